// Copies a new link's address, where the browser lets a page do so.

const copy = document.querySelector("[data-copy]");
const field = document.querySelector("[data-address]");
if (copy && navigator.clipboard) {
  copy.hidden = false;
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(field.value);
    copy.textContent = "Copied";
  });
}
field?.addEventListener("focus", () => field.select());
