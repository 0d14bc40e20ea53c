// Draws every <figure class="chart" data-chart="ID"> from the JSON in #ID, in the page's own colours and type.
// A point that is a design (customdata) is chosen by a click or with the arrow keys: a "design:choose" event says so,
// and "design:chosen" (from selection.js) rings it. Without Plotly the text and the table stand alone.

const CONFIG = {
  displaylogo: false,
  showSendToCloud: false,
  plotlyServerURL: "",
  responsive: false,
  modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
};
const NARROW_PX = 640;
const PRINTED_PX = 670; // what A4 and Letter have between their margins
const drawn = new WeakMap(); // plot element -> { text, width }
const sizes = new ResizeObserver((entries) => entries.forEach(({ target }) => resize(target)));
let library = "loading"; // Plotly: then "ready" or "failed"
let chosen = new URLSearchParams(location.hash.slice(1)).get("design") ?? "";

document.addEventListener("htmx:afterSettle", () => drawAll());
load();
document.addEventListener("design:chosen", ({ detail }) => {
  chosen = detail.id;
  document.querySelectorAll("figure.chart .plot").forEach(ring);
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll({ again: true }));
window.addEventListener("beforeprint", () => print(PRINTED_PX));
window.addEventListener("afterprint", () => print());

// The page names the script and does not wait for it: nothing but the charts needs it, and it is the largest by far.
function load() {
  const script = document.createElement("script");
  script.onload = () => loaded("ready");
  script.onerror = () => loaded("failed");
  script.src = document.querySelector("link[data-plotly]").href;
  document.head.append(script);
}

function loaded(outcome) {
  library = outcome;
  drawAll();
}

function drawAll({ again = false, printed } = {}) {
  document.querySelectorAll("figure.chart[data-chart]").forEach((figure) => draw(figure, again, printed));
}

// On paper charts are as wide as it is, in the light scheme's colours.
function print(printed) {
  document.documentElement.toggleAttribute("data-printing", printed !== undefined);
  drawAll({ again: true, printed });
}

function draw(figure, again, printed) {
  const plot = figure.querySelector(".plot");
  const text = document.getElementById(figure.dataset.chart)?.textContent;
  if (!plot || !text) return;
  if (library === "loading") return;
  if (library === "failed") {
    plot.dataset.waiting = "The chart's script did not load. The text and the table have the same numbers.";
    return;
  }
  const width = printed ?? plot.clientWidth;
  const before = drawn.get(plot);
  if (!again && before?.text === text && before.width === width) return;
  const { data, layout } = themed(JSON.parse(text), width);
  if (printed) Object.assign(layout, { width, autosize: false });
  if (before && !again) plot.dispatchEvent(new CustomEvent("chart:drawing", { bubbles: true })); // moving.js notes where points are
  window.Plotly.react(plot, data, layout, CONFIG);
  keyUnder(figure, layout, width);
  if (!before) listen(figure, plot);
  drawn.set(plot, { text, width });
  ring(plot);
  plot.dispatchEvent(new CustomEvent("chart:drawn", { bubbles: true }));
}

function resize(plot) {
  const before = drawn.get(plot);
  if (before && plot.clientWidth && before.width !== plot.clientWidth) draw(plot.closest("figure"), false);
}

function listen(figure, plot) {
  plot.tabIndex = 0;
  plot.setAttribute("role", "group");
  plot.setAttribute("aria-roledescription", "chart");
  for (const name of ["aria-label", "aria-labelledby", "aria-describedby"]) {
    if (figure.hasAttribute(name)) plot.setAttribute(name, figure.getAttribute(name));
  }
  plot.on("plotly_click", ({ points }) => choose(points.find((point) => point.customdata)?.customdata));
  plot.on("plotly_hover", ({ points }) => mark(plot, "hovered", points.find((point) => point.customdata)?.customdata));
  plot.on("plotly_unhover", () => mark(plot, "hovered", ""));
  plot.on("plotly_relayout", () => plot.dispatchEvent(new CustomEvent("chart:drawn", { bubbles: true })));
  plot.addEventListener("keydown", (event) => step(plot, event));
  sizes.observe(plot);
}

function choose(id) {
  if (id) document.dispatchEvent(new CustomEvent("design:choose", { detail: { id } }));
}

// Arrow keys walk along the frontier: the designs drawn at full strength, from left to right.
function step(plot, event) {
  const move = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  const stops = designs(plot).filter(({ strong }) => strong).sort((a, b) => a.x - b.x);
  if (!move || !stops.length) return;
  event.preventDefault();
  const at = stops.findIndex(({ id }) => id === chosen);
  const next = at < 0 ? (move > 0 ? 0 : stops.length - 1) : Math.min(Math.max(at + move, 0), stops.length - 1);
  choose(stops[next].id);
}

function designs(plot) {
  return plot.data.flatMap((trace) =>
    trace.meta?.role === "designs"
      ? trace.customdata.map((id, i) => ({
          id, x: trace.x[i], y: trace.y[i], strong: trace.marker.opacity?.[i] === 1,
          ...whiskers(trace, i),
        }))
      : [],
  );
}

function ring(plot) {
  mark(plot, "chosen", chosen);
}

// Shows one design by the trace of a role, with its whiskers; none where there is no such design.
function mark(plot, role, id) {
  if (library !== "ready" || !plot.data) return;
  const index = plot.data.findIndex((trace) => trace.meta?.role === role);
  if (index < 0) return;
  const found = designs(plot).filter((design) => design.id === id).slice(0, 1);
  const of = (name) => [found.map((design) => design[name])];
  const names = ["x", "y", "error_x.array", "error_x.arrayminus", "error_y.array", "error_y.arrayminus"];
  window.Plotly.restyle(plot, Object.fromEntries(names.map((name) => [name, of(name)])), [index]);
}

function whiskers(trace, i) {
  return Object.fromEntries(
    ["error_x", "error_y"].flatMap((side) => ["array", "arrayminus"].map((end) => [`${side}.${end}`, trace[side]?.[end][i] ?? 0])),
  );
}

// The page's look: variables of site.css, so that light, dark and print agree.

function themed({ data, layout }, width) {
  const css = getComputedStyle(document.documentElement);
  const look = (name) => css.getPropertyValue(`--${name}`).trim();
  const series = (index) => look(`series-${(index % 8) + 1}`);
  const traces = data.map((trace, index) => painted(trace, index, look, series));
  if (traces.some((trace) => trace.meta?.role === "designs")) traces.push(hoveredTrace(look), chosenTrace(look));
  return { data: traces, layout: laidOut(layout, width, look, series) };
}

function painted(trace, index, look, series) {
  const role = trace.meta?.role;
  const plain = { frontier: "ink", answer: "ink", ghost: "muted" }[role];
  const colour = plain ? look(plain) : series(trace.meta?.series ?? index);
  const copy = { ...trace };
  if (trace.line || trace.mode?.includes("lines")) copy.line = { ...trace.line, color: colour };
  if (trace.marker || trace.type === "bar" || trace.type === "histogram") copy.marker = { ...trace.marker, color: colour };
  if (role === "designs" && !trace.marker.symbol.endsWith("-open")) copy.marker.line = { width: 1, color: look("paper") };
  if (trace.error_x) copy.error_x = { ...trace.error_x, color: role === "answer" || role === "designs" ? colour : look("ink"), thickness: 1.5 };
  if (trace.error_y) copy.error_y = { ...trace.error_y, color: colour, thickness: 1.5 };
  return copy;
}

function chosenTrace(look) {
  return { ...marked("chosen", look("accent")), marker: { symbol: "circle-open", size: 24, color: look("accent"), line: { width: 3 } } };
}

// Whiskers alone: the point itself is drawn by its family.
function hoveredTrace(look) {
  return { ...marked("hovered", look("ink")), marker: { size: 1, opacity: 0 } };
}

function marked(role, color) {
  const side = { type: "data", symmetric: false, array: [], arrayminus: [], color, thickness: 1.5 };
  const marks = { type: "scatter", mode: "markers", x: [], y: [], meta: { role }, hoverinfo: "skip", showlegend: false, cliponaxis: false };
  return { ...marks, error_x: { ...side, copy_ystyle: false }, error_y: side };
}

function laidOut(layout, width, look, series) {
  const narrow = width < NARROW_PX;
  const atLineEnd = ({ name }) => /^(family|symbol):/.test(name ?? "");
  const names = (layout.annotations ?? []).filter(atLineEnd).map(({ text }) => plain(text));
  const annotations = (layout.annotations ?? []).map((note) => ({
    ...note,
    visible: !(narrow && (atLineEnd(note) || note.name === "ray")),
    font: { size: note.name === "ray" ? 11 : 12, color: noteColour(note.name ?? "", look, series) },
    text: narrow && note.name === "rate" ? note.text.replace(" requests/s", "") : note.text, // it would cover points
  }));
  return {
    ...layout,
    autosize: true,
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: look("body"), color: look("muted"), size: narrow ? 11 : 13 },
    margin: { l: narrow ? 48 : 64, r: names.length && !narrow ? Math.min(roomFor(names, look), width / 2) : 16, t: 34, b: 48, ...layout.margin },
    legend: { orientation: "h", font: { color: look("ink") }, ...layout.legend },
    hoverlabel: { align: "left", bgcolor: look("raised"), bordercolor: look("rule"), font: { color: look("ink") } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: look("muted"), activecolor: look("ink") },
    colorway: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => look(`series-${n}`)),
    annotations,
    shapes: (layout.shapes ?? []).map((shape) => ({ ...shape, fillcolor: look("series-2"), line: { ...shape.line, color: look(shape.name === "ray" ? "rule" : "muted") } })),
    ...Object.fromEntries(Object.entries(layout).filter(([name]) => /^[xy]axis\d*$/.test(name)).map(([name, given]) => [name, axis(given, look)])),
  };
}

// What the names at the lines' ends need: "Split, H100 capped + H100 capped" is wider than most.
function roomFor(names, look) {
  const pen = document.createElement("canvas").getContext("2d");
  pen.font = `12px ${look("body")}`;
  return Math.max(200, 40 + Math.ceil(Math.max(...names.map((name) => pen.measureText(name).width))));
}

function noteColour(name, look, series) {
  if (name.startsWith("symbol:")) return series(Number(name.slice(7)));
  return look(name.startsWith("family:") ? "ink" : "muted");
}

// Where the lines' ends have no room for names, these stand in a key under the chart.
function keyUnder(figure, { annotations = [] }, width) {
  figure.querySelector(".chart-key")?.remove();
  const symbols = annotations.filter(({ name }) => name?.startsWith("symbol:"));
  if (width >= NARROW_PX || !symbols.length) return;
  const key = document.createElement("ul");
  key.className = "chart-key";
  for (const { name, text } of symbols.reverse()) {
    const index = Number(name.slice(7));
    const item = key.appendChild(document.createElement("li"));
    const symbol = item.appendChild(document.createElement("span"));
    symbol.className = `series-${(index % 8) + 1}`;
    symbol.textContent = text;
    const family = annotations.find((note) => note.name === `family:${index}`);
    item.append(` ${plain(family?.text ?? "")}`);
  }
  figure.append(key);
}

function plain(escaped) {
  return new DOMParser().parseFromString(escaped, "text/html").body.textContent;
}

function axis(given, look) {
  return { gridcolor: look("grid"), zerolinecolor: look("rule"), linecolor: look("rule"), automargin: true, fixedrange: false, ...given };
}
