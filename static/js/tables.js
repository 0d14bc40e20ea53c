// Sorts a table by a click on a column's head: numbers by their exact value (in the cell's title), empty cells last.
// The order is kept when a running study renews the table, and so is how far it was scrolled and whether it was open.

const kept = new Map(); // region label -> { column, direction, left, top, open }

dress();
document.addEventListener("htmx:beforeSwap", remember);
document.addEventListener("htmx:oobBeforeSwap", remember);
document.addEventListener("htmx:afterSwap", dress); // at once: nobody sees the order in which it came
document.addEventListener("htmx:oobAfterSwap", dress);

function dress() {
  for (const table of document.querySelectorAll("table.sortable:not([data-dressed])")) {
    table.dataset.dressed = "";
    for (const head of table.querySelectorAll("thead th")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      button.addEventListener("click", () => sort(table, head, head.getAttribute("aria-sort") === "ascending" ? -1 : 1));
      head.replaceChildren(button);
    }
    restore(table);
  }
}

function sort(table, head, direction) {
  const body = table.tBodies[0];
  const column = head.cellIndex;
  const numeric = head.classList.contains("number");
  const keyed = [...body.rows].map((row, index) => ({ row, index, key: keyOf(row.cells[column], numeric) }));
  keyed.sort((a, b) => compare(a.key, b.key, direction) || a.index - b.index);
  body.append(...keyed.map(({ row }) => row));
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
}

function keyOf(cell, numeric) {
  const text = cell.title || cell.textContent.trim();
  if (text === "" || text === "–") return null;
  return numeric ? Number(text) : text;
}

function compare(a, b, direction) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "number") return direction * (a - b);
  return direction * a.localeCompare(b, "en", { numeric: true });
}

function remember() {
  for (const table of document.querySelectorAll("table.sortable")) {
    const head = table.querySelector("th[aria-sort]");
    const box = table.closest(".table-scroll");
    kept.set(box.getAttribute("aria-label"), {
      column: head?.dataset.column,
      direction: head?.getAttribute("aria-sort") === "descending" ? -1 : 1,
      sortedBy: table.dataset.sortedBy,
      left: box.scrollLeft,
      top: box.scrollTop,
      open: table.closest("details")?.open,
    });
  }
}

// A table begins at its answer, in the middle of the rows that are in view.
function showAnswer(table, box) {
  const row = table.querySelector("tr.answer");
  if (row) box.scrollTop = row.offsetTop - box.clientHeight / 2;
}

function restore(table) {
  const box = table.closest(".table-scroll");
  const state = kept.get(box.getAttribute("aria-label"));
  if (!state) return showAnswer(table, box);
  if (state.open !== undefined) table.closest("details").open = state.open;
  const userSorted = state.column !== state.sortedBy || state.direction < 0;
  const head = [...table.querySelectorAll("th")].find(({ dataset }) => dataset.column === state.column);
  if (head && userSorted) sort(table, head, state.direction);
  box.scrollLeft = state.left;
  box.scrollTop = state.top;
}
