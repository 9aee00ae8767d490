// @ts-check
// Times by the clock of the server. The clock of this computer may be wrong by hours; only how fast it goes is used.
import { element } from "./text.js";

let serverTime = Date.now();
let measuredAt = performance.now();
let isStopped = false;
let zone = stored("layover-zone") === "utc" ? "utc" : "local";

/** @param {string} key */
export function stored(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string} value */
export function store(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Without storage a choice lasts as long as the page.
  }
}

/** @param {string} time The clock of the server, RFC 3339. */
export function setServerTime(time) {
  serverTime = Date.parse(time);
  measuredAt = performance.now();
}

export function now() {
  return serverTime + (performance.now() - measuredAt);
}

/** @param {boolean} stopped While the server is not heard, no countdown may pretend to know. */
export function setStopped(stopped) {
  isStopped = stopped;
}

export function zoneName() {
  return zone;
}

/** @param {string} name */
export function setZone(name) {
  zone = name === "utc" ? "utc" : "local";
  store("layover-zone", zone);
}

/** @param {string} time */
export function clock(time) {
  return new Date(time).toLocaleTimeString("en-GB", {
    hour: "2-digit", minute: "2-digit", ...(zone === "utc" ? { timeZone: "UTC" } : {}),
  }) + (zone === "utc" ? " UTC" : "");
}

/** Date and time with its offset, in the zone that is chosen. @param {string} time */
export function exact(time) {
  if (zone === "utc") return new Date(time).toISOString();
  const date = new Date(time);
  const minutes = -date.getTimezoneOffset();
  const shifted = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1);
  const two = (/** @type {number} */ value) => String(value).padStart(2, "0");
  const offset = Math.abs(minutes);
  return `${shifted}${minutes < 0 ? "-" : "+"}${two(Math.floor(offset / 60))}:${two(offset % 60)}`;
}

/** @param {number} milliseconds */
function length(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** @param {string} time */
export function ago(time) {
  return `${length(now() - Date.parse(time))} ago`;
}

/** Never negative: what is over is being done. @param {string} time */
export function until(time) {
  const rest = Date.parse(time) - now();
  return rest <= 0 ? "sending…" : `in ${length(Math.ceil(rest / 1000) * 1000)}`;
}

/**
 * A time that is told relative to now, with the exact one in its title.
 *
 * @param {string} time
 * @param {"ago" | "until"} kind
 */
export function timeElement(time, kind) {
  const made = element("time", { datetime: time, "data-kind": kind });
  fill(made);
  return made;
}

/** @param {Element} made */
function fill(made) {
  const time = made.getAttribute("datetime") ?? "";
  const text = made.getAttribute("data-kind") === "until" ? until(time) : ago(time);
  if (made.textContent !== text) made.textContent = text;
  const title = exact(time);
  if (made.getAttribute("title") !== title) made.setAttribute("title", title);
}

/** Once a second, and whenever the zone changes. */
export function fillAll() {
  if (isStopped) return;
  for (const made of document.querySelectorAll("time[data-kind]")) fill(made);
}
