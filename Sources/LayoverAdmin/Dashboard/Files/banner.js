// @ts-check
// What is wrong now, one line for each incident, with its two commands.
import { button, byID, counted, element, visible } from "./text.js";
import { clock, exact, now } from "./times.js";

/** @typedef {Record<string, any>} Incident An incident of the API. */

/** @type {Map<string, HTMLElement>} */
const lines = new Map();

/** The same words as in DashboardPage.swift, which writes the first ones. @param {Incident} incident */
export function sentence(incident) {
  const count = incident.waiting;
  if (incident.kind === "decision") return `${counted(count, "request needs", "requests need")} a decision`
    + (incident.origin ? ` (${visible(incident.origin)}).` : ".");
  const place = incident.origin ? `${visible(incident.origin)} cannot be reached` : "Offline";
  return `${place} since ${clock(incident.since)}: ${counted(count, "request is", "requests are")} waiting.`;
}

/** What comes next. @param {Incident} incident */
export function next(incident) {
  if (incident.kind === "decision") return "";
  if (incident.manualOnly) return "No automatic attempts are left.";
  if (!incident.nextAttemptAt) return "";
  const { automaticMax: most, automaticLeft: left } = incident;
  const part = most && left > 0 ? ` (${Math.max(1, most - left + 1)} of ${most})` : "";
  const rest = Math.ceil((Date.parse(incident.nextAttemptAt) - now()) / 1000);
  return rest > 0 ? `Retrying in ${rest} s${part}` : `Sending…${part}`;
}

/** @param {Incident[]} incidents @param {boolean} isStale */
export function draw(incidents, isStale) {
  const banner = byID("banner");
  const ids = new Set(incidents.map((incident) => incident.id));
  for (const [id, line] of lines) {
    if (ids.has(id)) continue;
    line.remove();
    lines.delete(id);
  }
  for (const child of [...banner.children]) if (lines.get(/** @type {HTMLElement} */ (child).dataset.incident ?? "") !== child) child.remove();
  for (const incident of incidents) {
    let line = lines.get(incident.id);
    if (!line) {
      line = element("div", { class: `incident ${incident.kind}`, "data-incident": incident.id },
        element("p", {}, element("span", { class: "what" }), " ", element("span", { class: "next" })));
      banner.append(line);
      lines.set(incident.id, line);
    }
    setText(line.querySelector(".what"), sentence(incident));
    line.querySelector(".what")?.setAttribute("title", exact(incident.since));
    if (!isStale) setText(line.querySelector(".next"), next(incident));
    offer(line, incident);
  }
}

/** @param {HTMLElement} line @param {Incident} incident */
function offer(line, incident) {
  const wanted = incident.actions.join(" ");
  if (line.dataset.actions === wanted) return;
  line.dataset.actions = wanted;
  for (const old of line.querySelectorAll("button")) old.remove();
  if (incident.actions.includes("retry")) line.append(button("incident-retry", "Retry now", { "data-id": incident.id }));
  if (incident.actions.includes("cancel")) {
    line.append(button("incident-cancel", "Cancel all", { "data-id": incident.id, "data-danger": true }));
  }
}

/** Outages that are only played, so that nobody looks for their cause. @param {Record<string, any>[]} rehearsals @param {boolean} mayStop */
export function drawRehearsals(rehearsals, mayStop) {
  const text = JSON.stringify([rehearsals, mayStop]);
  const place = byID("rehearsals");
  if (place.dataset.drawn === text) return;
  place.dataset.drawn = text;
  place.replaceChildren(...rehearsals.map((one) => element("div", { class: "incident rehearsal", "data-rehearsal": String(one.id) },
    element("p", {}, `Rehearsal: ${visible(one.host)} ${faults[one.fault] ?? one.fault}, played by Layover until `,
      element("time", { datetime: one.endsAt, title: exact(one.endsAt) }, clock(one.endsAt)), "."),
    mayStop ? button("rehearsal-stop", "Stop it", { "data-id": String(one.id) }) : null)));
}

const faults = /** @type {Record<string, string>} */ ({
  refuse: "refuses connections", hang: "does not answer", cut: "breaks off its responses", status: "answers with an error",
  slow: "answers slowly", portal: "is behind a captive portal",
});

/** @param {Element | null} element @param {string} text */
function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/** One sentence for screen readers. @param {Incident[]} incidents @param {Record<string, number>} counts */
export function summary(incidents, counts) {
  const waiting = counts.waiting + counts.attempting;
  const parts = incidents.map(sentence);
  if (!parts.length) parts.push(waiting ? `${counted(waiting, "request is", "requests are")} waiting.` : "Nothing is waiting.");
  return parts.slice(0, 3).join(" ");
}
