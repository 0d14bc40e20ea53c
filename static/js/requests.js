// Manners of htmx's requests: a hidden page does not poll, nothing is renewed under a pressed pointer, and a request that
// ends with its page is no error, and one that could not be done says so.

const underway = new Set();
let pressed = false;

const polls = (element) => element?.getAttribute("hx-trigger")?.startsWith("every");

document.addEventListener("htmx:beforeRequest", (event) => {
  if (polls(event.detail.elt) && document.hidden) event.preventDefault();
});

// A press and its release on two elements make no click. What is passed over comes again: the poll asks from where it was.
document.addEventListener("pointerdown", () => (pressed = true), true);
for (const end of ["pointerup", "pointercancel", "dragend"]) {
  document.addEventListener(end, () => setTimeout(() => (pressed = false)), true); // the click comes first
}
document.addEventListener("htmx:beforeSwap", (event) => {
  if (pressed && polls(event.detail.requestConfig.elt)) event.preventDefault();
});
document.addEventListener("htmx:beforeSend", ({ detail }) => underway.add(detail.xhr));
document.addEventListener("htmx:afterRequest", ({ detail }) => underway.delete(detail.xhr));
window.addEventListener("beforeunload", () => {
  for (const xhr of underway) xhr.onerror = xhr.onabort = null;
});

// A part of the page that did not come: in the server's words where it has some, until another comes.
function say(words) {
  const place = document.getElementById("trouble");
  if (place && place.textContent !== words) place.textContent = words;
}
const WORDS = {
  0: "The server cannot be reached. What you see may be old.",
  403: "You may not do this any more. Load the page again.",
  404: "This is not here any more. Load the page again.",
};
document.addEventListener("htmx:responseError", ({ detail: { xhr } }) => {
  const plain = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain");
  say((plain && xhr.responseText) || WORDS[xhr.status] || `The server could not do this (${xhr.status}). Try again in a moment.`);
});
document.addEventListener("htmx:sendError", () => say(WORDS[0]));
document.addEventListener("htmx:afterOnLoad", ({ detail }) => {
  if (detail.successful) say("");
});
