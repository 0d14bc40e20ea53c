// What is supposed is the page's address: each move of a slider, a number box, the line of the required rate or the
// chart's form asks for what follows from it and becomes an entry of the history, so that Back undoes it.

const CHOSEN = ["view", "power", "equal", "baseline"]; // what is shown how
const form = document.getElementById("what-if");
const strip = form?.closest("details");
const KEPT = ["open"]; // of the address, which sections are open is folds.js's
const KEY_MS = 400;
let pressedAt = -KEY_MS; // when a slider last had a key
let waiting;
let shown = asked(location.search);
let lastMoves = moved(shown);

if (form) {
  const phone = matchMedia("(max-width: 40rem), (max-height: 36rem)"); // it is a sheet over the page: closed until wanted
  if (phone.matches) strip.open = false;
  phone.addEventListener("change", () => { strip.open = !phone.matches; });
  strip.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !phone.matches) return;
    strip.open = false;
    strip.querySelector("summary").focus();
  });
  fill(new URLSearchParams(location.search)); // a browser may have kept what was typed before
  for (const slider of form.querySelectorAll("[type=range]")) {
    slider.addEventListener("input", () => follow(slider));
    slider.addEventListener("keydown", () => (pressedAt = performance.now()));
    slider.addEventListener("change", () => goSoon());
  }
  document.addEventListener("change", onChange);
  document.addEventListener("click", onClick);
  document.addEventListener("htmx:configRequest", onRequest);
  document.addEventListener("rate:moving", ({ detail }) => put("rate", detail.rate));
  document.addEventListener("rate:moved", ({ detail }) => (put("rate", detail.rate), go()));
  form.addEventListener("submit", (event) => (event.preventDefault(), go()));
  window.addEventListener("popstate", onBack);
}

function controls() {
  return [...form.querySelectorAll("[data-move]")];
}

function boxOf(control) {
  return control.querySelector("[type=number]");
}

// The number box says what the slider says, before anything is asked.
function follow(slider) {
  const box = boxOf(slider.closest("[data-move]"));
  box.value = slider.value;
  if (box.name === "rate") document.dispatchEvent(new CustomEvent("rate:preview", { detail: { rate: Number(box.value) } }));
}

function put(name, value) {
  const control = controls().find((one) => one.dataset.move === name);
  boxOf(control).value = value;
  slideTo(control);
}

function slideTo(control) {
  const slider = control.querySelector("[type=range]");
  const box = boxOf(control);
  slider.value = box.value === "" ? slider.max : box.value;
  control.classList.toggle("moved", box.value !== box.dataset.asked);
}

function onChange({ target }) {
  if (target.form !== form) return;
  if (target.closest("[data-move]")) slideTo(target.closest("[data-move]"));
  go();
}

// The form's select names the baseline of the answer before, of a study that runs on too: where the address names none,
// it is the new answer's.
function onRequest({ detail }) {
  if (detail.parameters.baseline && !new URLSearchParams(location.search).has("baseline")) detail.parameters.baseline = "";
}

// Links to another address of this page: back to what was asked, of one or of all.
function onClick(event) {
  const link = event.target.closest("[data-move-to]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  fill(new URL(link.href).searchParams);
  go();
}

function onBack() {
  if (asked(location.search) === shown) return; // the chosen design is in the address, too
  fill(new URLSearchParams(location.search));
  ask(asked(location.search));
}

// Keys move a slider step by step: several presses are one move, one entry of the history and one request.
function goSoon() {
  clearTimeout(waiting);
  const byKey = performance.now() - pressedAt < KEY_MS;
  waiting = setTimeout(go, byKey ? KEY_MS : 0);
}

function go() {
  const query = currentQuery();
  if (String(query) === shown) return;
  const kept = KEPT.map((name) => [name, new URLSearchParams(location.search).get(name)]).filter(([, value]) => value);
  const whole = [String(query), ...kept.map(([name, value]) => `${name}=${value}`)].filter(Boolean).join("&");
  history.pushState(null, "", `${location.pathname}${whole && `?${whole}`}${location.hash}`);
  ask(String(query));
}

// Of an address, what is supposed and what is shown how.
function asked(search) {
  const query = new URLSearchParams(search);
  for (const name of KEPT) query.delete(name);
  return String(query);
}

function ask(search) {
  shown = search;
  controls().forEach(slideTo);
  form.querySelector("[data-reset-all]").hidden = !controls().some((control) => control.classList.contains("moved"));
  const values = Object.fromEntries(new URLSearchParams(search));
  for (const name of ["table", "design"]) {
    const field = document.querySelector(`#frontier-data [name=${name}]`);
    if (field) values[name] = field.value;
  }
  const moves = moved(search);
  window.htmx.ajax("GET", form.dataset.viewUrl, { source: form, swap: "none", values }).then(() => {
    if (moves === lastMoves) return; // another form of the chart supposes nothing else
    lastMoves = moves;
    document.dispatchEvent(new CustomEvent("view:asked"));
  });
}

function moved(search) {
  const query = new URLSearchParams(search);
  for (const name of CHOSEN) query.delete(name);
  return String(query);
}

// In one order, and without what is as it was asked, so that one state has one address.
function currentQuery() {
  const query = new URLSearchParams();
  for (const name of CHOSEN) {
    const value = new FormData(form).get(name);
    if (value && value !== firstOf(name)) query.set(name, value);
  }
  for (const control of controls()) {
    const box = boxOf(control);
    if (box.value === box.dataset.asked) continue;
    if (box.value !== "") query.set(box.name, box.value);
    else if (box.placeholder === "none") query.set(box.name, "none");
  }
  return query;
}

function firstOf(name) {
  return document.querySelector(`[data-first-${name}]`)?.getAttribute(`data-first-${name}`) ?? "";
}

function fill(query) {
  for (const name of CHOSEN) {
    const value = query.get(name) ?? firstOf(name);
    for (const field of form.elements) {
      if (field.name !== name) continue;
      if (field.type === "radio") field.checked = field.value === value;
      else field.value = value;
    }
  }
  for (const control of controls()) {
    const box = boxOf(control);
    const given = query.get(box.name);
    box.value = given === "none" ? "" : (given ?? box.dataset.asked);
    slideTo(control);
  }
}
