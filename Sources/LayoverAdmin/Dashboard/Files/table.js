// @ts-check
// The list of requests: one row for each, kept by id, so that focus and place stay when something changes.
import { address } from "./state.js";
import { isSelected } from "./selection.js";
import { button, byID, element, visible } from "./text.js";
import { timeElement } from "./times.js";

/** @typedef {Record<string, any>} Entry An entry of the API. */

/** @type {Map<string, { row: HTMLElement, text: string }>} */
const rows = new Map();

export const stateNames = /** @type {Record<string, string>} */ ({
  waiting: "waiting", attempting: "sending", held: "held", undecided: "needs decision", delivered: "delivered", cancelled: "cancelled",
  expired: "expired", failed: "failed",
});

const reasons = /** @type {Record<string, string>} */ ({
  network: "the network is away", origin: "the server cannot be reached", turn: "others are being sent", lane: "earlier requests of its lane",
  parent: "tickets that it depends on", pause: "the server asked for a pause", time: "its next attempt",
  maybeApplied: "the server may have processed it", exhausted: "no automatic attempts are left",
  credentialsExpired: "its credentials have expired", rejected: "it was refused before sending", parentFailed: "a ticket before it failed",
});

const willGo = /** @type {Record<string, string>} */ ({
  now: "goes now", modeEnds: "goes when mode offline ends", laneFree: "goes when its lane is free", windowOpens: "goes in its turn",
  pauseEnds: "goes when the pause ends",
});

/** @param {Entry} entry */
export function reason(entry) {
  const why = reasons[entry.why] ?? reasons[entry.waitingFor] ?? "";
  const asked = entry.willGo ? ` (${willGo[entry.willGo] ?? entry.willGo})` : "";
  const failure = entry.lastFailure?.message ?? "";
  const done = entry.resume ? `has ${entry.resume.done.toLocaleString("en")} of ${entry.resume.total.toLocaleString("en")} bytes` : "";
  const text = entry.response ? `status ${entry.response.status}` : [why + asked, done, failure].filter(Boolean).join(" · ");
  return visible(text);
}

/** @param {Entry} entry */
function cells(entry) {
  const isFinal = Boolean(entry.endedAt);
  const box = element("input", { type: "checkbox", "aria-label": `Select ${visible(entry.method)} ${visible(entry.url)}` });
  /** @type {HTMLInputElement} */ (box).checked = isSelected(entry.id);
  const commands = ["retry", "cancel"].filter((name) => entry.actions.includes(name)).map((name) => button(name, names[name] ?? name, {
    "data-id": entry.id, "data-danger": name === "cancel",
    "aria-label": `${names[name]}: ${visible(entry.method)} ${visible(entry.url)}`,
  }));
  const why = reason(entry);
  const next = entry.nextAttemptAt && !isFinal ? timeElement(entry.nextAttemptAt, "until") : null;
  return [
    element("td", { class: "tick" }, isFinal ? null : box),
    element("td", { "data-label": "State" }, element("span", { class: `state ${entry.state}` }, stateNames[entry.state] ?? entry.state)),
    element("td", { "data-label": "Request", class: "request" },
      element("a", { href: address({ id: entry.id }), "data-verb": "open", "data-id": entry.id },
        element("b", {}, visible(entry.method)), " ", visible(entry.url)),
      entry.ticket !== null ? element("span", { class: "tag" }, "ticket") : null,
      entry.lane ? element("span", { class: "tag" }, `lane ${visible(entry.lane)}`) : null,
      entry.client.connected ? element("span", { class: "tag" }, "client waits") : null),
    element("td", { "data-label": "Why", class: "why" }, element("span", { title: why }, why)),
    element("td", { "data-label": "Next attempt" }, entry.state === "attempting" ? progress(entry) : next),
    element("td", { "data-label": "Attempts" }, String(entry.attempts)),
    element("td", { "data-label": isFinal ? "Ended" : "Waiting since" }, timeElement(entry.endedAt ?? entry.parkedAt, "ago")),
    element("td", { class: "commands" }, ...commands),
  ];
}

export const names = /** @type {Record<string, string>} */ ({
  retry: "Retry", cancel: "Cancel", hold: "Hold", release: "Release", force: "Force…", abort: "Abort attempt", settle: "Settle…",
});

/** @param {Entry} entry */
function progress(entry) {
  const attempt = entry.attempt;
  if (!attempt) return "sending…";
  const bytes = entry.requestBytes > 0 ? ` ${Math.min(100, Math.floor((100 * attempt.bytesSent) / entry.requestBytes))} %` : "";
  return `${attempt.phase}${bytes}`;
}

/** @param {Entry} entry */
function rowOf(entry) {
  const text = JSON.stringify(entry);
  const known = rows.get(entry.id);
  if (known?.text === text) return known.row;
  const row = known?.row ?? element("tr", { "data-id": entry.id });
  const focused = row.contains(document.activeElement) ? document.activeElement?.getAttribute("data-verb") : null;
  row.dataset.revision = String(entry.revision);
  row.className = entry.state;
  row.replaceChildren(...cells(entry));
  if (focused) /** @type {HTMLElement | null} */ (row.querySelector(`[data-verb="${focused}"]`) ?? row.querySelector("a"))?.focus();
  rows.set(entry.id, { row, text });
  return row;
}

/** How many rows would come, go or move. @param {Entry[]} entries */
export function changesTo(entries) {
  const before = [...byID("rows").children].map((row) => /** @type {HTMLElement} */ (row).dataset.id ?? "");
  const after = new Set(entries.map((entry) => entry.id));
  const old = new Set(before);
  const gone = before.filter((id) => !after.has(id)).length;
  return gone + entries.filter((entry) => !old.has(entry.id)).length;
}

/** Changes what is in the rows, and leaves them where they are. @param {Entry[]} entries */
export function patch(entries) {
  for (const entry of entries) if (rows.has(entry.id)) rowOf(entry);
}

/** @param {Entry[]} entries */
export function draw(entries) {
  const body = byID("rows");
  const ids = new Set(entries.map((entry) => entry.id));
  for (const [id, { row }] of rows) {
    if (ids.has(id)) continue;
    row.remove();
    rows.delete(id);
  }
  // What was in the page at load is drawn anew.
  for (const row of [...body.children]) if (rows.get(/** @type {HTMLElement} */ (row).dataset.id ?? "")?.row !== row) row.remove();
  /** @type {Element | null} */
  let place = body.firstElementChild;
  for (const entry of entries) {
    const row = rowOf(entry);
    if (row === place) place = place.nextElementSibling;
    else body.insertBefore(row, place);
  }
}

/** Says in the row what became of its request. @param {string} id @param {string} text */
export function note(id, text) {
  const row = rows.get(id)?.row;
  if (!row) return;
  row.classList.add("gone");
  const cell = row.querySelector(".why");
  if (cell) cell.textContent = text;
  for (const control of row.querySelectorAll("button, input")) control.remove();
}

/** The row after or before the one that has the focus. @param {number} step */
export function moveFocus(step) {
  const all = [...byID("rows").querySelectorAll("tr")];
  const at = all.findIndex((row) => row.contains(document.activeElement));
  const row = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + step))];
  row?.querySelector("a")?.focus();
  return row;
}

export function focusedRow() {
  const row = document.activeElement?.closest("#rows tr");
  return row instanceof HTMLTableRowElement ? row : null;
}
