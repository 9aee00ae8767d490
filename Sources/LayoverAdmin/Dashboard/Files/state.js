// @ts-check
// What the page shows is in its URL: a reload, the Back button and a link to a colleague show the same.

/** @typedef {{ tab: string, q: string, sort: string, cursor: string, id: string }} Shown */

const names = /** @type {const} */ (["tab", "q", "sort", "cursor", "id"]);

/** @returns {Shown} */
function read() {
  const query = new URLSearchParams(location.search);
  /** @type {Shown} */
  const shown = { tab: "waiting", q: "", sort: "", cursor: "", id: "" };
  for (const name of names) shown[name] = query.get(name) || shown[name];
  return shown;
}

/** @type {Shown} */
export let shown = read();
/** @type {() => void} */
let changed = () => {};

/** @param {Partial<Shown>} change @returns {string} The URL of the page with that change. */
export function address(change = {}) {
  const all = { ...shown, ...change };
  const query = new URLSearchParams();
  for (const name of names) if (all[name] && !(name === "tab" && all.tab === "waiting")) query.set(name, all[name]);
  const text = query.toString();
  return text ? `/?${text}` : "/";
}

/** The same without the open entry, which the list does not depend on. */
export function listQuery() {
  return address({ id: "" }).slice(1);
}

/**
 * @param {Partial<Shown>} change
 * @param {boolean} [isStep] Whether Back returns to what was shown before. Typing in the filter is no step.
 */
export function show(change, isStep = true) {
  shown = { ...shown, ...change };
  history[isStep ? "pushState" : "replaceState"](null, "", address());
  changed();
}

/** @param {() => void} listener */
export function onChange(listener) {
  changed = listener;
  addEventListener("popstate", () => {
    shown = read();
    listener();
  });
}
