// How much of each chart's table is shown: none until it is opened, the designs that matter most with the chosen one, or
// all. A running study renews a table as far as it was shown when it was asked; what is wanted by then is asked for here.

const RANK = { none: 0, short: 1, all: 2 };
const wanted = new Map(); // chart -> extent
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
  if (target.open) want(body, "short");
  else wanted.delete(body.dataset.table);
}

function onClick(event) {
  if (!event.target.closest("[data-all]") || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  want(event.target.closest("[data-table]"), "all");
}

function want(body, extent) {
  const chart = body.dataset.table;
  if (RANK[extent] > RANK[wanted.get(chart) ?? "none"]) wanted.set(chart, extent);
  settle();
}

// What comes was asked for before more was wanted: the rows that are there stay until they, too, come anew. The event of
// one that was opened this moment comes later, and not at all when it is replaced first.
function keepShown(fragment) {
  for (const fresh of fragment.querySelectorAll("[data-table]")) {
    const shown = document.querySelector(`[data-table="${fresh.dataset.table}"]`);
    if (shown) onToggle({ target: shown.closest("details") });
    if (!shown || !fallsShort(fresh) || fallsShort(shown)) continue;
    fresh.replaceChildren(...shown.childNodes);
    fresh.closest("details").open = true;
    fresh.dataset.stale = "";
  }
}

function settle() {
  for (const body of document.querySelectorAll("[data-table]")) {
    if (fallsShort(body) || "stale" in body.dataset) ask(body);
  }
}

function fallsShort(body) {
  const shown = extentOf(body);
  if (RANK[wanted.get(body.dataset.table) ?? "none"] > RANK[shown]) return true;
  return shown === "short" && chosen && !has(body, chosen);
}

// One that is no design of this study is in no table, however often it is asked for.
function has(body, id) {
  return body.querySelector(`tr[data-design="${CSS.escape(id)}"]`) || body.querySelector("[name=design]")?.value === id;
}

function extentOf(body) {
  return body.querySelector(`[name=${body.dataset.table}_table]`)?.value ?? "none";
}

// The source is the table's own: htmx sends one request at a time from an element.
function ask(body) {
  const chart = body.dataset.table;
  const shown = extentOf(body);
  const extent = RANK[wanted.get(chart)] > RANK[shown] ? wanted.get(chart) : shown;
  const asked = `${extent} ${chosen}`;
  if (body.dataset.asked === asked) return; // it is on its way
  body.dataset.asked = asked;
  delete body.dataset.stale;
  body.closest("details").open = true;
  const power = document.querySelector("[name=power]:checked")?.value ?? "";
  const values = { [`${chart}_table`]: extent, power, design: chosen };
  window.htmx.ajax("GET", body.dataset.address, { source: body, target: body, swap: "innerHTML", values });
}
