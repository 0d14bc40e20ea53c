// One chosen design at a time, kept in the address (#design=ID): chart points, table rows and the panel agree on it.

const result = document.getElementById("result");
const panel = document.getElementById("design-panel");
let opener = null;

if (result && panel) {
  document.addEventListener("design:choose", ({ detail }) => choose(detail.id));
  document.addEventListener("click", onClick);
  document.addEventListener("keydown", (event) => event.key === "Escape" && !panel.hidden && close());
  document.addEventListener("htmx:afterSettle", mark);
  window.addEventListener("hashchange", show);
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
  const row = event.target.closest("tr[data-design]");
  if (!row) return;
  event.preventDefault();
  opener = event.target.closest("a") ?? row.querySelector("a");
  choose(row.dataset.design);
}

function show() {
  const id = chosenId();
  mark();
  document.dispatchEvent(new CustomEvent("design:chosen", { detail: { id } }));
  if (!id) {
    panel.hidden = true;
    return;
  }
  const address = result.dataset.designUrl.replace("DESIGN", encodeURIComponent(id));
  window.htmx.ajax("GET", address, { source: panel, target: panel, swap: "innerHTML" }).then(() => {
    panel.hidden = chosenId() === "";
    panel.scrollTop = 0;
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
