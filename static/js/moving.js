// A point keeps its identity: where a chart is drawn anew, each design moves from where it was to where it is now, and
// what was not there fades in. Nothing moves for whoever wants less motion. charts.js says when a chart is drawn.

const MOVE_MS = 550;
const LEAST_PX = 1;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const before = new WeakMap(); // plot element -> Map of point's key -> where it was

document.addEventListener("chart:drawing", ({ target }) => before.set(target, placesOf(target)));
document.addEventListener("chart:drawn", ({ target }) => {
  const was = before.get(target);
  before.delete(target); // a zoom draws, too, and nothing was noted before it
  if (was?.size && !still.matches) move(target, was);
});

function move(plot, was) {
  const now = pointsOf(plot);
  const moved = now.filter(({ key, x, y }) => was.has(key) && Math.hypot(was.get(key).x - x, was.get(key).y - y) > LEAST_PX);
  if (!moved.length) return;
  for (const { element, key, x, y } of moved) {
    const { left, top } = origin(plot);
    const to = (place) => `translate(${place.x - left}px, ${place.y - top}px)`;
    animate(element, [{ transform: to(was.get(key)) }, { transform: to({ x, y }) }]);
  }
  const fresh = now.filter(({ key }) => !was.has(key)).map(({ element }) => element);
  const lines = plot.querySelectorAll(".scatterlayer .js-line, .scatterlayer .errorbar, .shapelayer path");
  for (const element of [...fresh, ...lines]) animate(element, [{ opacity: 0 }, { opacity: 0, offset: 0.5 }, {}]);
}

function animate(element, frames) {
  element.animate(frames, { duration: MOVE_MS, easing: "ease-in-out" });
}

function placesOf(plot) {
  return new Map(pointsOf(plot).map(({ key, x, y }) => [key, { x, y }]));
}

// Every drawn point of a design, with its place in the chart's own pixels; the answer's ring is a point of its own.
function pointsOf(plot) {
  if (!plot._fullLayout?.xaxis) return [];
  const { left, top } = origin(plot);
  return [...plot.querySelectorAll(".scatterlayer path.point")].flatMap((element) => {
    const [, x, y] = /translate\(([-\d.e]+),([-\d.e]+)\)/.exec(element.getAttribute("transform") ?? "") ?? [];
    const { trace } = element.closest(".trace").__data__[0];
    const id = trace.customdata?.[element.__data__.i];
    if (x === undefined || !id) return [];
    return [{ element, key: `${trace.meta?.role} ${id}`, x: Number(x) + left, y: Number(y) + top }];
  });
}

// Points are placed within the axes, whose own place depends on how wide the ticks' names are.
function origin(plot) {
  const { xaxis, yaxis } = plot._fullLayout;
  return { left: xaxis._offset, top: yaxis._offset };
}
