// How much of the chart's table is shown: none until it is opened, the designs that matter most with the chosen one, or
// all. A running study renews a table as far as it was shown when it was asked; what is wanted by then is asked for here.

const RANK = { none: 0, short: 1, all: 2 };
let wanted = "none";
let chosen = "";

document.addEventListener("toggle", onToggle, true); // it does not bubble
document.addEventListener("click", onClick);
document.addEventListener("htmx:afterRequest", ({ target }) => delete target.dataset?.asked); // a failed one may be repeated
document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => keepShown(detail.fragment));
document.addEventListener("htmx:afterSettle", () => settle());
document.addEventListener("design:chosen", ({ detail }) => {
  chosen = detail.id;
  settle();
});

function onToggle({ target }) {
  const body = target.querySelector(":scope > [data-table]");
  if (!body) return;
  if (target.open) want("short");
  else wanted = "none";
}

function onClick(event) {
  if (!event.target.closest("[data-all]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  want("all");
}

function want(extent) {
  if (RANK[extent] > RANK[wanted]) wanted = extent;
  settle();
}

// What comes was asked for before more was wanted: the rows that are there stay until they, too, come anew. The event of
// one that was opened this moment comes later, and not at all when it is replaced first.
function keepShown(fragment) {
  const fresh = fragment.querySelector("[data-table]");
  const shown = document.querySelector("[data-table]");
  if (!fresh) return;
  if (shown) onToggle({ target: shown.closest("details") });
  if (!shown || !fallsShort(fresh) || fallsShort(shown)) return;
  fresh.replaceChildren(...shown.childNodes);
  fresh.closest("details").open = true;
  fresh.dataset.stale = "";
}

function settle() {
  const body = document.querySelector("[data-table]");
  if (body && (fallsShort(body) || "stale" in body.dataset)) ask(body);
}

function fallsShort(body) {
  const shown = extentOf(body);
  if (RANK[wanted] > RANK[shown]) return true;
  return shown === "short" && chosen && !has(body, chosen);
}

// One that is no design of this study is in no table, however often it is asked for.
function has(body, id) {
  return body.querySelector(`tr[data-design="${CSS.escape(id)}"]`) || body.querySelector("[name=design]")?.value === id;
}

function extentOf(body) {
  return body.querySelector("[name=table]")?.value ?? "none";
}

// The source is the table's own: htmx sends one request at a time from an element. What is supposed is in the address.
function ask(body) {
  const shown = extentOf(body);
  const extent = RANK[wanted] > RANK[shown] ? wanted : shown;
  const asked = `${extent} ${chosen}`;
  if (body.dataset.asked === asked) return; // it is on its way
  body.dataset.asked = asked;
  delete body.dataset.stale;
  body.closest("details").open = true;
  const supposed = Object.fromEntries(new URLSearchParams(location.search));
  const values = { ...supposed, table: extent, design: chosen };
  window.htmx.ajax("GET", body.dataset.address, { source: body, target: body, swap: "innerHTML", values });
}
