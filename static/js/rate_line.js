// The line of the required rate on the frontier chart can be dragged, by mouse, touch and arrow keys; what follows from
// the rate it comes to is asked for when it is let go. charts.js says when a chart was drawn or zoomed.

const LARGE = 10; // steps of PageUp and PageDown
let handle = null;

document.addEventListener("chart:drawn", ({ target }) => place(target));
document.addEventListener("rate:preview", ({ detail }) => preview(detail.rate));

function place(plot) {
  const line = (plot.layout.shapes ?? []).find(({ name }) => name === "rate");
  if (!line || !slider()) {
    if (handle?.parentElement === plot) handle.remove();
    return;
  }
  handle ??= made();
  if (handle.parentElement !== plot) plot.append(handle);
  if (!handle.dataset.dragged) show(Number(line.y0));
}

function made() {
  const element = document.createElement("div");
  element.className = "rate-handle";
  element.tabIndex = 0;
  const facts = { role: "slider", "aria-orientation": "vertical", "aria-label": "Rate line of the chart, requests a second" };
  Object.entries(facts).forEach(([name, value]) => element.setAttribute(name, value));
  element.append(document.createElement("span"));
  element.addEventListener("pointerdown", begin);
  element.addEventListener("keydown", onKey);
  return element;
}

function slider() {
  return document.querySelector('[data-move="rate"] [type=range]');
}

function axes() {
  return handle.parentElement._fullLayout;
}

function show(rate) {
  const { xaxis, yaxis } = axes();
  const top = yaxis._offset + yaxis.l2p(rate);
  handle.hidden = top < yaxis._offset || top > yaxis._offset + yaxis._length;
  Object.assign(handle.style, { top: `${top}px`, left: `${xaxis._offset}px`, width: `${xaxis._length}px` });
  handle.firstChild.textContent = shortly(rate);
  const { min, max } = slider();
  const facts = { "aria-valuemin": min, "aria-valuemax": max, "aria-valuenow": rate, "aria-valuetext": `${shortly(rate)} requests a second` };
  Object.entries(facts).forEach(([name, value]) => handle.setAttribute(name, value));
}

function shortly(rate) {
  return Number(rate.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 });
}

function preview(rate) {
  if (handle?.parentElement && Number.isFinite(rate)) show(rate);
}

function begin(event) {
  if (event.button) return;
  event.preventDefault();
  handle.focus({ preventScroll: true });
  handle.setPointerCapture(event.pointerId);
  handle.dataset.dragged = "yes";
  handle.addEventListener("pointermove", drag);
  handle.addEventListener("pointerup", end, { once: true });
  handle.addEventListener("pointercancel", end, { once: true });
}

function drag(event) {
  const { yaxis } = axes();
  const y = event.clientY - handle.parentElement.getBoundingClientRect().top - yaxis._offset;
  moving(yaxis.p2l(y));
}

function end() {
  handle.removeEventListener("pointermove", drag);
  delete handle.dataset.dragged;
  moved();
}

function onKey(event) {
  const step = Number(slider().step);
  const now = Number(handle.getAttribute("aria-valuenow"));
  const { min, max } = slider();
  const to = {
    ArrowUp: now + step, ArrowRight: now + step, ArrowDown: now - step, ArrowLeft: now - step,
    PageUp: now + LARGE * step, PageDown: now - LARGE * step, Home: Number(min), End: Number(max),
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation(); // arrow keys walk along the frontier elsewhere on the chart
  moving(to);
  clearTimeout(handle.waiting);
  handle.waiting = setTimeout(moved, 400); // several presses are one move
}

function moving(rate) {
  const { min, max, step } = slider();
  const within = Math.min(Math.max(rate, Number(min)), Number(max));
  const rounded = Number((Math.round(within / Number(step)) * Number(step)).toPrecision(6));
  show(rounded);
  document.dispatchEvent(new CustomEvent("rate:moving", { detail: { rate: rounded } }));
}

function moved() {
  document.dispatchEvent(new CustomEvent("rate:moved", { detail: { rate: Number(handle.getAttribute("aria-valuenow")) } }));
}
