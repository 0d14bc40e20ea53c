// The question's form: says what differs from the defaults, and, over an answer, what was changed since it was given.

const form = document.getElementById("question");
if (form) {
  form.addEventListener("input", update);
  form.addEventListener("click", (event) => event.target.closest("[data-defaults]") && setDefaults());
  window.addEventListener("pageshow", update);
  document.addEventListener("htmx:afterSettle", heedPreview);
  heedPreview();
  offerFamilies();
  offerMachines();
  document.querySelector(".error-summary")?.focus();
  openLinkedField();
}

// The button never leads to a failure that is known beforehand; the preview says which.
function heedPreview() {
  form.querySelector("[data-ask]").disabled = form.querySelector("[data-impossible]") !== null;
}

function setDefaults() {
  for (const field of form.querySelectorAll(".advanced .field")) {
    for (const control of controlsOf(field)) {
      delete control.dataset.dropped;
      if (control.type === "checkbox") control.checked = false;
      else if ("byMachine" in field.dataset) control.value = "";
      else control.value = field.dataset.default;
    }
  }
  form.dispatchEvent(new Event("input", { bubbles: true }));
}

// Families are offered for the machines chosen; one whose machine goes is unticked, and ticked again when it comes back.
function offerFamilies() {
  const machines = new Set([...form.querySelectorAll("#id_machines input:checked")].map(({ value }) => value));
  for (const family of form.querySelectorAll("#id_families input")) {
    const possible = family.value.split(":")[1].split("+").every((machine) => machines.has(machine));
    if (!possible && family.checked) family.dataset.dropped = "";
    if (possible && "dropped" in family.dataset) {
      family.checked = true;
      delete family.dataset.dropped;
    } else if (!possible) family.checked = false;
    family.closest("label").hidden = !possible;
  }
}

// Counts on hand and sources of times are asked for of the machines chosen.
function offerMachines() {
  const machines = new Set([...form.querySelectorAll("#id_machines input:checked")].map(({ value }) => value));
  for (const line of form.querySelectorAll("[data-machine]")) line.hidden = !machines.has(line.dataset.machine);
}

// A machine that is added stands in the sentence, before the button that it was added by.
function showAdded() {
  const more = document.getElementById("more-machines");
  for (const input of more?.querySelectorAll("input:checked") ?? []) {
    more.previousElementSibling.before(input.closest("label"), " ");
  }
}

function update() {
  showAdded();
  offerFamilies();
  offerMachines();
  showDiffering();
  showStale();
}

function showDiffering() {
  const differing = [...form.querySelectorAll(".advanced .field")].map(differenceOf).filter(Boolean);
  form.querySelector("[data-differing]").textContent = differing.length ? `(${differing.join("; ")})` : "(all at their defaults)";
}

function differenceOf(field) {
  const controls = controlsOf(field);
  if ("byMachine" in field.dataset) return byMachine(field, controls);
  const value = valueOf(controls);
  if (!value.raw || value.raw === field.dataset.default) return "";
  const ticked = controls.filter((control) => control.type === "checkbox" && control.checked).length;
  return `${midSentence(nameOf(field))} ${ticked ? `${ticked} chosen` : value.shown}`;
}

function byMachine(field, controls) {
  const given = controls.filter((control) => control.value.trim() && !control.closest("[hidden]"));
  if (!given.length) return "";
  const said = given.map((control) => `${labelTextOf(control)} ${valueOf([control]).shown}`);
  return `${midSentence(nameOf(field))} ${said.join(", ")}`;
}

function showStale() {
  const note = form.querySelector("[data-stale]");
  const answer = document.querySelector("[data-answer]");
  if (!answer) return;
  const changes = groups().map(changeOf).filter(Boolean);
  note.hidden = changes.length === 0;
  note.textContent = changes.length ? `Inputs changed: ${changes.join(", ")}` : "";
  answer.classList.toggle("stale", changes.length > 0);
  const again = form.querySelector(".again");
  if (again && changes.length) again.open = true; // the button
}

function groups() {
  const byName = new Map();
  for (const control of form.elements) {
    if (!control.name || control.type === "hidden" || control.type === "submit") continue;
    byName.set(control.name, [...(byName.get(control.name) ?? []), control]);
  }
  return [...byName.values()];
}

function changeOf(controls) {
  const before = valueOf(controls, true);
  const now = valueOf(controls);
  if (before.raw === now.raw) return "";
  return `${labelOf(controls[0])} ${before.shown || "none"} → ${now.shown || "none"}`;
}

function valueOf(controls, asLoaded = false) {
  const [first] = controls;
  if (first.type === "checkbox" || first.type === "radio") {
    const chosen = controls.filter((control) => (asLoaded ? control.defaultChecked : control.checked));
    return { raw: chosen.map((c) => c.value).join(", "), shown: chosen.map(textOf).join(" + ") };
  }
  if (first.tagName === "SELECT") {
    const option = [...first.options].find((o) => (asLoaded ? o.defaultSelected : o.selected)) ?? first.options[0];
    return { raw: option?.value ?? "", shown: option?.text ?? "" };
  }
  const text = (asLoaded ? first.defaultValue : first.value).trim();
  return { raw: text, shown: text };
}

function controlsOf(field) {
  return [...field.querySelectorAll("input, select")];
}

function textOf(control) {
  return control.closest("label")?.textContent.trim() ?? control.value;
}

function nameOf(field) {
  return (field.querySelector("legend") ?? field.querySelector("label")).textContent.trim();
}

function labelOf(control) {
  const fieldset = control.type === "checkbox" || control.type === "radio" ? control.closest("fieldset") : null;
  const own = control.closest("[data-by-machine]");
  const prefix = own ? `${nameOf(own)}, ` : "";
  const text = fieldset?.querySelector("legend").textContent ?? labelTextOf(control);
  return midSentence(prefix + text.trim().replace(/^or /, "").split(",")[0].split(";")[0]);
}

function labelTextOf(control) {
  return (form.querySelector(`label[for="${control.id}"]`)?.textContent ?? control.name).trim();
}

// "Token budget" loses its capital, "KV transfer" and "Power limit in kW" keep theirs.
function midSentence(label) {
  return /^[A-Z]{2}/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}

// A link of the error summary may lead into the closed Advanced part.
function openLinkedField() {
  document.addEventListener("click", (event) => {
    const target = event.target.closest(".error-summary a")?.getAttribute("href");
    const field = target && document.querySelector(target);
    if (!field) return;
    const details = field.closest("details");
    if (details) details.open = true;
    (field.matches("input, select") ? field : field.querySelector("input, select"))?.focus();
    event.preventDefault();
  });
}
