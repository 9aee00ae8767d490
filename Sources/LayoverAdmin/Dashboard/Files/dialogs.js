// @ts-check
// Questions before a command, and what came of it.
import { byID, button, element } from "./text.js";

/** @type {(() => void) | null} */
let confirmed = null;

function dialog() {
  return /** @type {HTMLDialogElement} */ (byID("confirm"));
}

/**
 * @param {string} title
 * @param {(Node | string)[]} content
 * @param {string} label Of the button that goes on.
 * @param {{ isDanger?: boolean, words?: string }} options `words` have to be typed before.
 * @param {() => void} then
 */
export function ask(title, content, label, options, then) {
  confirmed = then;
  const go = button("confirm", label, { "data-danger": options.isDanger, class: options.isDanger ? "danger" : "primary" });
  const parts = [element("h2", { id: "confirm-title" }, title), ...content];
  if (options.words) {
    const field = element("input", { type: "text", id: "typed", autocomplete: "off", "data-words": options.words });
    go.setAttribute("disabled", "");
    parts.push(element("label", { for: "typed" }, `Type ${options.words} to go on: `), field);
  }
  const close = button("close-dialog", label ? "Back" : "Close", { autofocus: true });
  parts.push(element("p", { class: "bar" }, close, label ? go : null));
  dialog().replaceChildren(...parts);
  dialog().setAttribute("aria-labelledby", "confirm-title");
  dialog().showModal();
}

/** The button of the dialog was pressed. */
export function goOn() {
  // It reads what was typed, so the dialog is closed after it.
  const then = confirmed;
  then?.();
  close();
}

export function close() {
  confirmed = null;
  if (dialog().open) dialog().close();
}

/** @param {string} id @returns {string} What was typed into a field of the dialog. */
export function typed(id) {
  const field = document.getElementById(id);
  return field instanceof HTMLInputElement ? field.value.trim() : "";
}

/** The words of `ask` are typed: its button can be pressed. Enter does not press it. */
export function watchWords() {
  dialog().addEventListener("input", (event) => {
    const field = event.target;
    if (!(field instanceof HTMLInputElement) || !field.dataset.words) return;
    dialog().querySelector("[data-verb=confirm]")?.toggleAttribute("disabled", field.value.trim() !== field.dataset.words);
  });
  dialog().addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target instanceof HTMLInputElement) event.preventDefault();
  });
  // The event comes later: another question may be open by then.
  dialog().addEventListener("close", () => { if (!dialog().open) confirmed = null; });
}

/**
 * @param {string} text
 * @param {Node[]} [more]
 */
export function toast(text, ...more) {
  const made = element("div", { class: "toast" }, element("p", {}, text), ...more, button("close-toast", "Dismiss"));
  byID("toasts").append(made);
  // What came of a person's own command is said at once.
  byID("announce").textContent = text;
  const all = byID("toasts").children;
  while (all.length > 3) all[0]?.remove();
  setTimeout(() => made.remove(), 20_000);
}
