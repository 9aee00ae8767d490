// @ts-check
// The attempts of a request as bars of phases, with the same facts in a table.
import { element, visible } from "./text.js";
import { exact } from "./times.js";

/** @typedef {Record<string, any>} Attempt */

const phases = ["resolving", "connecting", "securing", "sending", "awaitingResponse", "receiving"];
const phaseNames = /** @type {Record<string, string>} */ ({
  resolving: "name", connecting: "connect", securing: "TLS", sending: "send", awaitingResponse: "wait", receiving: "receive",
});

/** @param {Attempt} attempt */
function bar(attempt) {
  const reached = attempt.phase ? phases.indexOf(attempt.phase) : phases.length;
  const parts = phases.map((phase, index) => element("span", {
    class: index < reached ? "passed" : index === reached ? "failed" : "never",
  }, phaseNames[phase] ?? phase));
  return element("div", { class: "phases", "aria-hidden": "true" }, ...parts);
}

/** @param {Attempt} attempt */
export function duration(attempt) {
  if (!attempt.endedAt) return "under way";
  return `${((Date.parse(attempt.endedAt) - Date.parse(attempt.startedAt)) / 1000).toFixed(3)} s`;
}

/** @type {[string, (attempt: Attempt) => string][]} */
const facts = [
  ["Why then", (attempt) => attempt.trigger],
  ["Started", (attempt) => exact(attempt.startedAt)],
  ["Took", duration],
  ["Ended in", (attempt) => attempt.phase ?? (attempt.status ? `status ${attempt.status}` : "")],
  ["Failure", (attempt) => [attempt.kind, attempt.message].filter(Boolean).join(": ")],
  ["Evidence", (attempt) => attempt.evidence ?? ""],
  ["Bytes sent", (attempt) => String(attempt.bytesSent ?? "")],
  ["Path", (attempt) => attempt.path ?? ""],
  ["Connection", (attempt) => (attempt.reusedConnection === null ? "" : attempt.reusedConnection ? "reused" : "new")],
  ["From", (attempt) => attempt.localAddress ?? ""],
  ["To", (attempt) => attempt.remoteAddress ?? ""],
  ["Verdict", (attempt) => attempt.text ?? attempt.verdict ?? ""],
];

/** @param {Attempt[]} attempts @param {number} dropped */
export function bars(attempts, dropped) {
  if (!attempts.length) return element("p", {}, "No attempt was made yet.");
  const list = element("ol", { class: "attempts" });
  // The newest is what people look for.
  for (const attempt of attempts.toReversed()) {
    list.append(element("li", { value: String(attempt.number) },
      element("label", {}, element("input", { type: "checkbox", "data-attempt": String(attempt.number), "aria-label": `Compare attempt ${attempt.number}` }),
        ` ${duration(attempt)}, ${attempt.phase ? `failed at ${phaseNames[attempt.phase] ?? attempt.phase}` : attempt.status ? `status ${attempt.status}` : "over"}`),
      bar(attempt), element("p", {}, visible(attempt.message ?? ""))));
  }
  const box = element("div", {}, list);
  if (dropped > 0) box.prepend(element("p", {}, `${dropped} attempts between the first and the newest are not kept.`));
  box.append(element("details", { class: "twin" }, element("summary", {}, "As a table"), table(attempts)));
  box.append(element("div", { id: "compared" }));
  return box;
}

/** One column for each attempt. @param {Attempt[]} attempts @param {boolean} [marksDifferences] */
export function table(attempts, marksDifferences = false) {
  const head = element("tr", {}, element("td"), ...attempts.map((attempt) => element("th", { scope: "col" }, `Attempt ${attempt.number}`)));
  const rows = facts.map(([name, fact]) => {
    const texts = attempts.map((attempt) => visible(fact(attempt)));
    const isDifferent = marksDifferences && new Set(texts).size > 1;
    return element("tr", { class: isDifferent ? "different" : undefined },
      element("th", { scope: "row" }, isDifferent ? `${name} ≠` : name), ...texts.map((text) => element("td", {}, text)));
  });
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Attempts" }, element("table", {}, head, ...rows));
}
