// @ts-check
// Text and elements. Everything that comes from requests is set as text, never as HTML.

/** Control characters, and those that change the direction of the text around them, as they are written in code. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** @param {string} text */
export function visible(text) {
  return text.replace(hidden, (sign) => `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`);
}

/**
 * Makes an element. Strings among the children become text.
 *
 * @param {string} name
 * @param {Record<string, string | boolean | undefined>} [attributes]
 * @param {...(Node | string | null | undefined)} children
 * @returns {HTMLElement}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== undefined && value !== false) made.setAttribute(key, value);
  }
  for (const child of children) if (child !== null && child !== undefined) made.append(child);
  return made;
}

/**
 * @param {string} verb What the click asks for; app.js has one listener for all.
 * @param {string} label
 * @param {Record<string, string | boolean | undefined>} [more]
 */
export function button(verb, label, more = {}) {
  return element("button", { type: "button", "data-verb": verb, ...more }, label);
}

/** @param {string} id */
export function byID(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

/**
 * Makes the children of an element anew only if they say something else.
 *
 * @param {HTMLElement} place
 * @param {unknown} facts
 * @param {() => (Node | string)[]} make
 */
export function replace(place, facts, make) {
  const text = JSON.stringify(facts);
  if (place.dataset.drawn === text) return;
  place.dataset.drawn = text;
  place.replaceChildren(...make());
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} many
 */
export function counted(count, one, many) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** @param {number} bytes */
export function size(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (bytes >= 1024 && unit < units.length - 1) {
    bytes /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

/**
 * Puts text on the clipboard. Browsers have `navigator.clipboard` on secure origins only, so a field that is selected does it
 * elsewhere.
 *
 * @param {string} text
 */
export async function copy(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // A browser may refuse; then the old way is tried.
    }
  }
  const place = document.querySelector("dialog[open]") ?? document.body;
  const field = /** @type {HTMLTextAreaElement} */ (element("textarea", { class: "unseen", readonly: true, "aria-label": "Copied text" }));
  field.value = text;
  place.append(field);
  const before = document.activeElement;
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
