// @ts-check
// Keys, where the focus is in no field and no other key is held.
import { ask } from "./dialogs.js";
import { element } from "./text.js";

/** @type {[string, string][]} */
const all = [
  ["j", "next request"], ["k", "request before"], ["Enter", "open it"], ["r", "retry it"], ["c", "cancel it (asks)"], ["x", "tick it"],
  ["Shift + ↓ ↑", "tick a range"], ["a", "tick all of the page"], ["/", "filter"], ["Esc", "close, or untick"], ["?", "these keys"],
];

/** @param {Record<string, () => void>} actions */
export function watchKeys(actions) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
    if (target.matches("input:not([type=checkbox]), textarea, select")) return;
    const name = event.shiftKey && event.key.startsWith("Arrow") ? `Shift${event.key}` : event.key;
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
    if (!action) return;
    event.preventDefault();
    action();
  });
}

export function help() {
  ask("Keys", [element("dl", { class: "keys" }, ...all.flatMap(([key, text]) =>
    [element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)]))], "", {}, () => {});
}
