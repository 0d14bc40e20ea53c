// Manners of htmx's requests: a hidden page does not poll, and a request that ends with its page is no error.

const underway = new Set();

document.addEventListener("htmx:beforeRequest", (event) => {
  const polls = event.detail.elt.getAttribute("hx-trigger")?.startsWith("every");
  if (polls && document.hidden) event.preventDefault();
});
document.addEventListener("htmx:beforeSend", ({ detail }) => underway.add(detail.xhr));
document.addEventListener("htmx:afterRequest", ({ detail }) => underway.delete(detail.xhr));
window.addEventListener("beforeunload", () => {
  for (const xhr of underway) xhr.onerror = xhr.onabort = null;
});
