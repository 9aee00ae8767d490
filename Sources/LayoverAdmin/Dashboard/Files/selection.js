// @ts-check
// The rows that are ticked.
import { byID } from "./text.js";

/** @type {Map<string, number>} Ids with the revision that was shown. */
const ticked = new Map();
/** @type {string | null} */
let last = null;
/** @type {() => void} */
let changed = () => {};

/** @param {() => void} listener */
export function onSelection(listener) {
  changed = listener;
}

export function selectedIDs() {
  return [...ticked.keys()];
}

export function selectedCount() {
  return ticked.size;
}

export function clearSelection() {
  ticked.clear();
  last = null;
  draw();
}

/** @param {string} id */
export function isSelected(id) {
  return ticked.has(id);
}

/** @returns {HTMLTableRowElement[]} */
function rows() {
  return /** @type {HTMLTableRowElement[]} */ ([...byID("rows").children]).filter((row) => !row.classList.contains("gone"));
}

/** @param {HTMLTableRowElement} row @param {boolean} on */
function set(row, on) {
  const id = row.dataset.id ?? "";
  if (on) ticked.set(id, Number(row.dataset.revision));
  else ticked.delete(id);
}

/**
 * @param {HTMLTableRowElement} row
 * @param {boolean} on
 * @param {boolean} isRange From the row that was ticked before to this one, by where they are in the list.
 */
export function select(row, on, isRange) {
  const all = rows();
  const [from, to] = [all.findIndex((other) => other.dataset.id === last), all.indexOf(row)];
  if (isRange && from >= 0 && to >= 0) {
    for (const other of all.slice(Math.min(from, to), Math.max(from, to) + 1)) set(other, on);
  } else set(row, on);
  last = row.dataset.id ?? null;
  draw();
}

/** @param {boolean} on */
export function selectAll(on) {
  for (const row of rows()) set(row, on);
  last = null;
  draw();
}

/** Ticks as they are, and the box of the head: none, some or all. */
export function draw() {
  const all = rows();
  for (const row of all) {
    const box = row.querySelector("input");
    if (box) box.checked = ticked.has(row.dataset.id ?? "");
    row.classList.toggle("ticked", ticked.has(row.dataset.id ?? ""));
  }
  const head = /** @type {HTMLInputElement} */ (byID("all"));
  const count = all.filter((row) => ticked.has(row.dataset.id ?? "")).length;
  head.checked = count > 0 && count === all.length;
  head.indeterminate = count > 0 && count < all.length;
  changed();
}
