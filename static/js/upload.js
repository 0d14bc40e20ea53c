// A form with a file: one that is too large is said so before it is sent, and while it is read the button says that.

const form = document.querySelector("form[data-upload]");
const file = form.querySelector("input[type=file]");
const problem = form.querySelector("[data-problem]");
const button = form.querySelector("[data-busy]");
const idle = button.textContent;

function isTooLarge() {
  const large = [...file.files].some((one) => one.size > Number(form.dataset.mostBytes));
  problem.textContent = large ? form.dataset.tooLarge : "";
  problem.hidden = !large;
  file.toggleAttribute("aria-invalid", large);
  return large;
}

file.addEventListener("change", isTooLarge);
form.addEventListener("submit", (event) => {
  if (isTooLarge()) {
    event.preventDefault();
    file.focus();
    return;
  }
  button.textContent = button.dataset.busy;
  button.disabled = true;
});
// Back from the next page: the browser may show this one as it was left.
window.addEventListener("pageshow", () => {
  button.textContent = idle;
  button.disabled = false;
});
