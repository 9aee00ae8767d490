// @ts-check
// Keeps a redraw from putting something else under the pointer.

/** For how long a control that ends requests does nothing after it has come or moved, in milliseconds. */
const restFor = 300;

/** @type {Map<Element | string, { x: number, y: number, at: number }>} */
let places = new Map();
let isPointerDown = false;

/**
 * What a control is, beyond its element: drawn anew for the same request in the same part of the page, it is the same control.
 *
 * @param {Element} control
 */
function identity(control) {
  const id = control.getAttribute("data-id");
  return id ? `${control.closest("#rows, #detail")?.id ?? ""} ${control.getAttribute("data-verb")} ${id}` : control;
}

/** @param {Element} control */
function place(control) {
  const box = control.getBoundingClientRect();
  return { x: Math.round(box.x + scrollX), y: Math.round(box.y + scrollY) };
}

/** Notes where the destructive controls are, whenever the page changes. */
export function watchPlaces() {
  let isPlanned = false;
  const noteAll = () => {
    isPlanned = false;
    const at = performance.now();
    const before = places;
    places = new Map();
    for (const control of document.querySelectorAll("[data-danger]")) note(control, at, before);
  };
  const plan = () => {
    if (isPlanned) return;
    isPlanned = true;
    requestAnimationFrame(noteAll);
  };
  new MutationObserver(plan).observe(document.body, {
    childList: true, subtree: true, attributes: true, attributeFilter: ["hidden", "open", "class", "disabled"],
  });
  addEventListener("resize", plan);
  plan();
}

/** @param {Element} control @param {number} at @param {typeof places} before */
function note(control, at, before) {
  const { x, y } = place(control);
  const name = identity(control);
  const known = before.get(name);
  const isSame = known && Math.abs(known.x - x) <= 1 && Math.abs(known.y - y) <= 1;
  places.set(name, isSame ? known : { x, y, at });
}

/**
 * Whether a click is meant. One by keyboard is: the focus does not move by itself.
 *
 * @param {Element} control
 * @param {MouseEvent} event
 */
export function isMeant(control, event) {
  if (!control.hasAttribute("data-danger") || event.detail === 0) return true;
  const at = performance.now();
  note(control, at, places);
  const known = places.get(identity(control));
  return known !== undefined && at - known.at >= restFor;
}

/** @param {() => void} onUp */
export function watchPointer(onUp) {
  document.addEventListener("pointerdown", () => { isPointerDown = true; }, true);
  for (const name of ["pointerup", "pointercancel"]) {
    document.addEventListener(name, () => {
      isPointerDown = false;
      // The click comes after this, and must find what was pressed.
      setTimeout(onUp, 50);
    }, true);
  }
}

/** While it is, nothing is drawn anew: a click whose target is replaced between press and release gets lost. */
export function isPressed() {
  return isPointerDown;
}

/** Whether rows have to stay where they are. @param {number} selectedCount */
export function isBusy(selectedCount) {
  return isPointerDown || selectedCount > 0 || document.querySelector("dialog[open]") !== null
    || document.activeElement?.matches("#rows button:focus-visible, #rows input:focus-visible") === true;
}
