// Sections of the answer that are closed to a title and a sentence: which are open is in the page's address, so that a
// reload and a link show the same. What is supposed changes them all: what_if.js says when, and they are asked for anew.

const OPEN = "open";
const sections = document.getElementById("sections");

if (sections) {
  document.addEventListener("toggle", onToggle, true); // it does not bubble
  document.addEventListener("view:asked", renew);
  document.addEventListener("click", openLinked);
  window.addEventListener("hashchange", openAddressed);
  openAddressed();
}

function onToggle({ target }) {
  const name = target.dataset?.fold;
  if (!name || !target.isConnected) return;
  const names = new Set(openNames());
  if (names.has(name) === target.open) return;
  if (target.open) names.add(name);
  else names.delete(name);
  const query = new URLSearchParams(location.search);
  query.delete(OPEN);
  const rest = [query.toString(), names.size ? `${OPEN}=${[...names].join(",")}` : ""].filter(Boolean).join("&");
  history.replaceState(history.state, "", `${location.pathname}${rest && `?${rest}`}${location.hash}`);
}

function openNames() {
  return (new URLSearchParams(location.search).get(OPEN) ?? "").split(",").filter(Boolean);
}

// One at a time, and the last one asked for: a slider that is dragged on makes what came before it old.
function renew() {
  sections.setAttribute("aria-busy", "true");
  const address = `${sections.dataset.address}${location.search}`;
  window.htmx.ajax("GET", address, { source: sections, target: sections, swap: "innerHTML" }).then(() => {
    sections.removeAttribute("aria-busy");
    for (const name of openNames()) openSection(`#analysis-${name}`); // one that was opened meanwhile
  });
}

// A line of the list of sections, or an address that names one, opens it.
function openLinked(event) {
  const link = event.target.closest?.('a[href^="#analysis-"]');
  if (link) openSection(link.hash);
}

function openAddressed() {
  if (location.hash.startsWith("#analysis-")) openSection(location.hash);
}

function openSection(hash) {
  const details = document.getElementById(hash.slice(1))?.querySelector(":scope > details[data-fold]");
  if (details) details.open = true;
}
