// Manners of htmx's requests: a hidden page does not poll, nothing is renewed under a pressed pointer, and a request that
// ends with its page is no error.

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
