// A map that is wider than its place begins at its marked cell, in the middle of what is seen.

const shown = new WeakSet();

begin();
document.addEventListener("htmx:afterSettle", begin);

function begin() {
  for (const box of document.querySelectorAll(".map-scroll")) {
    const mark = box.querySelector(".mark.answer rect, .mark.you rect");
    if (!mark || shown.has(box)) continue;
    shown.add(box);
    box.scrollLeft = mark.getBBox().x + mark.getBBox().width / 2 - box.clientWidth / 2;
  }
}
