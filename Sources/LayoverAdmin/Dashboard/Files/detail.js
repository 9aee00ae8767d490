// @ts-check
// One request: why it is still there, what was tried, and what can be done.
import { bytesOf, call } from "./api.js";
import { bars, table } from "./bars.js";
import { curl, utf8 } from "./curl.js";
import { names, reason, stateNames } from "./table.js";
import { button, byID, copy, element, size, visible } from "./text.js";
import { timeElement } from "./times.js";
import { toast } from "./dialogs.js";

/** Bytes of a body that are shown. */
const previewed = 4096;
/** Bytes of a body that are copied. */
const copied = 1 << 20;

/** @type {Record<string, any> | null} */
let entry = null;
/** @type {Record<string, any>[]} */
let attempts = [];
/** @type {Record<string, any> | null} */
let request = null;
let drawn = "";
let turn = 0;

export function openEntry() {
  return entry;
}

/** @param {string} id Empty: closed. */
export async function draw(id) {
  turn += 1;
  const mine = turn;
  const place = byID("detail");
  document.body.classList.toggle("detailed", id !== "");
  if (!id) {
    place.hidden = true;
    entry = null;
    drawn = "";
    return;
  }
  try {
    const [now, timeline] = await Promise.all([call("GET", `/v1/pending/${id}`), call("GET", `/v1/pending/${id}/explain`)]);
    const head = now.endedAt ? null : await call("GET", `/v1/pending/${id}/request`).catch(() => null);
    if (mine !== turn) return;
    const text = JSON.stringify([now, timeline, head]);
    if (text === drawn) return;
    // A body that was opened, or a choice of attempts, stays where it is.
    if (entry?.id === id && entry.revision === now.revision && place.contains(document.activeElement) && drawn) return;
    drawn = text;
    [entry, attempts, request] = [now, timeline.attempts, head];
    fill(place, now, timeline);
  } catch (error) {
    if (mine !== turn) return;
    drawn = "";
    place.replaceChildren(closing(), element("h2", {}, "This request is not known"),
      element("p", {}, visible(error instanceof Error ? error.message : ""), " It ended long ago, or the link is from elsewhere."));
  }
  place.hidden = false;
}

function closing() {
  return button("close-detail", "Close", { class: "close" });
}

/** @param {HTMLElement} place @param {Record<string, any>} now @param {Record<string, any>} timeline */
function fill(place, now, timeline) {
  const order = ["retry", "release", "hold", "abort", "force", "settle", "cancel"];
  const commands = order.filter((name) => now.actions.includes(name)).map((name) => button(name, names[name] ?? name, {
    "data-id": now.id, "data-danger": ["cancel", "force", "settle"].includes(name),
  }));
  const focused = place.contains(document.activeElement) ? document.activeElement?.getAttribute("data-verb") : null;
  const isTableOpen = place.dataset.id === now.id && place.querySelector("details[open]") !== null;
  const ticked = place.dataset.id === now.id ? tickedAttempts() : [];
  const body = place.dataset.id === now.id ? document.getElementById("preview") : null;
  place.dataset.id = now.id;
  place.replaceChildren(
    closing(), element("h2", { class: "request" }, `${visible(now.method)} ${visible(now.url)}`),
    element("p", { id: "sentence" }, visible(timeline.now.text)),
    timeline.now.key ? element("p", { class: "key" }, "Changed by ", element("code", {}, timeline.now.key), " in the configuration.") : "",
    element("div", { class: "bar" }, ...commands, button("copy-curl", "Copy as curl", { disabled: !request }), button("copy-id", "Copy id")),
    element("h3", {}, "Attempts"), bars(timeline.attempts, timeline.droppedCount), facts(now),
    element("h3", {}, "Request"), head(), element("div", { id: "preview" },
      now.requestBytes > 0 && !now.endedAt ? button("preview", `Show the body (${size(now.requestBytes)})`) : ""),
    element("p", {}, element("a", { href: `/v1/pending/${now.id}` }, "As JSON")));
  if (focused) /** @type {HTMLElement | null} */ (place.querySelector(`[data-verb="${focused}"]`))?.focus();
  // What a person has opened stays open.
  place.querySelector("details")?.toggleAttribute("open", isTableOpen);
  if (body?.querySelector("pre")) byID("preview").replaceWith(body);
  for (const box of boxes()) box.checked = ticked.includes(Number(box.dataset.attempt));
  if (ticked.length) compare();
}

/** @returns {HTMLInputElement[]} */
function boxes() {
  return [...document.querySelectorAll("#detail [data-attempt]")].filter((box) => box instanceof HTMLInputElement);
}

function tickedAttempts() {
  return boxes().filter((box) => box.checked).map((box) => Number(box.dataset.attempt));
}

/** @param {Record<string, any>} now */
function facts(now) {
  const list = element("dl");
  /** @param {string} name @param {string | Node | null | undefined} value */
  const add = (name, value) => {
    if (value !== null && value !== undefined && value !== "") list.append(element("dt", {}, name), element("dd", {}, value));
  };
  add("State", stateNames[now.state] ?? now.state);
  add("Why", reason(now));
  add("Id", now.id);
  add("Ticket", now.ticket);
  add("Incident", now.incident);
  add("Parked", timeElement(now.parkedAt, "ago"));
  add(now.endedAt ? "Ended" : "Expires", timeElement(now.endedAt ?? now.expiresAt, now.endedAt ? "ago" : "until"));
  add("Policy", visible(now.policy));
  add("Route", now.route && visible(now.route));
  add("Lane", now.lane && visible(now.lane));
  add("Waits for", now.waitingOn);
  add("Priority", String(now.priority));
  add("Automatic attempts left", now.automaticLeft === null ? "no limit" : String(now.automaticLeft));
  add("Client", visible(`${now.client.address} ${now.client.connected ? "(waits)" : "(gone)"} ${now.client.userAgent ?? ""}`));
  if (now.lastCommand) {
    const { name, who, from, reason: why } = now.lastCommand;
    add("Last command", visible(`${name} by ${who}${from ? ` from ${from}` : ""}${why ? `: ${why}` : ""}`));
  }
  return list;
}

function head() {
  if (!request) return element("p", {}, "Its fields are not kept any more.");
  return element("ul", { class: "fields" }, ...request.fields.map((/** @type {{ name: string, value: string }} */ field) =>
    element("li", {}, element("b", {}, visible(field.name)), `: ${visible(field.value)}`)));
}

/** Two attempts that are ticked stand side by side. */
export function compare() {
  const place = document.getElementById("compared");
  if (!place) return;
  const chosen = tickedAttempts();
  const two = attempts.filter((attempt) => chosen.includes(attempt.number)).slice(-2);
  place.replaceChildren(...(two.length === 2 ? [element("h3", {}, "Side by side"), table(two, true)] : []));
}

export async function preview() {
  const place = byID("preview");
  if (!entry) return;
  try {
    const { bytes, isWhole } = await bytesOf(`/v1/pending/${entry.id}/request-body`, previewed);
    const text = utf8(bytes) ?? [...bytes.slice(0, 256)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    place.replaceChildren(element("pre", { tabindex: "0", "aria-label": "Body" }, visible(text.replaceAll("\r\n", "\n")).replaceAll("\\u{a}", "\n")),
      element("p", {}, isWhole ? "" : `The first ${size(bytes.length)}.`));
  } catch (error) {
    place.replaceChildren(element("p", {}, visible(error instanceof Error ? error.message : "The body cannot be read.")));
  }
}

export async function copyAsCurl() {
  if (!request || !entry) return;
  let body = null;
  if (request.bytes > 0 && request.bytes <= copied) {
    body = await bytesOf(`/v1/pending/${entry.id}/request-body`, copied).then((found) => found.bytes, () => null);
  }
  const text = curl(/** @type {any} */ (request), body);
  toast(await copy(text) ? "Copied. Secrets are ***." : "The browser does not allow copying.");
}

export async function copyID() {
  if (entry) toast(await copy(entry.id) ? "Copied." : "The browser does not allow copying.");
}
