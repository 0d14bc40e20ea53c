// One chosen design at a time, kept in the address (#design=ID): chart points, table rows and the panel agree on it.

const result = document.getElementById("result");
const panel = document.getElementById("design-panel");
let opener = null;
let shownId = "";

if (result && panel) {
  document.addEventListener("design:choose", ({ detail }) => choose(detail.id));
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", (event) => event.key === "Escape" && !panel.hidden && close());
  panel.addEventListener("keydown", step);
  document.addEventListener("htmx:afterSettle", mark);
  window.addEventListener("hashchange", show);
  document.addEventListener("view:asked", () => chosenId() && show()); // another question is supposed
  show();
}

function chosenId() {
  return new URLSearchParams(location.hash.slice(1)).get("design") ?? "";
}

function choose(id) {
  if (id === chosenId()) show();
  else location.hash = new URLSearchParams({ design: id });
}

function onClick(event) {
  if (event.target.closest("[data-close-panel]")) return close();
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const place = event.target.closest("[data-design]");
  if (!place) return;
  event.preventDefault();
  if (!panel.contains(place)) opener = event.target.closest("a") ?? place.querySelector("a");
  choose(place.dataset.design);
}

// Arrow keys lead along the frontier, but where they have another meaning.
function step(event) {
  const move = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!move || event.target.closest("input, select, textarea, .plot, .table-scroll, .map-scroll")) return;
  const next = panel.querySelector(`[data-step="${move}"]`);
  if (!next) return;
  event.preventDefault();
  choose(next.dataset.design);
}

function show() {
  const id = chosenId();
  mark();
  document.dispatchEvent(new CustomEvent("design:chosen", { detail: { id } }));
  if (!id) {
    panel.hidden = true;
    return;
  }
  const within = panel.contains(document.activeElement);
  const address = result.dataset.designUrl.replace("DESIGN", encodeURIComponent(id)) + location.search;
  window.htmx.ajax("GET", address, { source: panel, target: panel, swap: "innerHTML" }).then(() => {
    panel.hidden = chosenId() === "";
    if (id !== shownId) panel.scrollTop = 0;
    shownId = id;
    if (within) panel.focus({ preventScroll: true }); // what had it is gone
  });
}

function mark() {
  const id = chosenId();
  for (const row of document.querySelectorAll("tr[data-design]")) {
    if (row.dataset.design === id) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
  for (const row of document.querySelectorAll("tr[data-design][aria-current]")) reveal(row);
}

// Scrolls the table to the row, but never the page.
function reveal(row) {
  const box = row.closest(".table-scroll");
  if (!box || box.scrollHeight <= box.clientHeight) return;
  const top = row.offsetTop - box.querySelector("thead").offsetHeight;
  if (top < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top;
}

function close() {
  history.pushState(null, "", location.pathname + location.search);
  show();
  opener?.focus();
}
