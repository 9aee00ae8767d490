// @ts-check
// The tabs that show something else than requests: the cache, and incidents with their origins and lanes.
import { call } from "./api.js";
import { next, sentence } from "./banner.js";
import { plot } from "./plot.js";
import { address } from "./state.js";
import { button, byID, counted, element, size, visible } from "./text.js";
import { timeElement } from "./times.js";

let turn = 0;
let drawn = "";

/** @param {string} tab @param {Record<string, any>} snapshot */
export async function draw(tab, snapshot) {
  turn += 1;
  const mine = turn;
  const place = byID("extra");
  if (tab !== "cache" && tab !== "incidents") {
    place.replaceChildren();
    drawn = "";
    return;
  }
  const parts = tab === "cache" ? await cache(snapshot.role !== "viewer") : await activity(snapshot);
  // An answer that comes after the tab was left is not drawn.
  if (mine !== turn) return;
  const isNew = drawn !== tab;
  if (!isNew && (place.contains(document.activeElement) || place.querySelector("details[open]"))) return;
  drawn = tab;
  place.replaceChildren(...parts);
}

/** @param {boolean} mayCommand */
async function cache(mayCommand) {
  /** @type {Record<string, any>} */
  let list;
  try {
    list = await call("GET", "/v1/cache?limit=200");
  } catch (error) {
    return [element("p", {}, visible(error instanceof Error ? error.message : "The cache cannot be read."))];
  }
  const { entries, bytes, bytesMax } = list.usage;
  const rows = list.data.map((/** @type {Record<string, any>} */ one) => element("tr", {},
    element("td", { class: "request" }, visible(`${one.method} ${one.url}`)), element("td", {}, String(one.status)),
    element("td", {}, size(one.bytes)), element("td", {}, timeElement(one.storedAt, "ago")), element("td", {}, one.private ? "one user" : "all")));
  return [
    element("h2", {}, "Responses kept for reading offline"),
    element("p", {}, `${counted(entries, "response", "responses")}, ${size(bytes)} of ${size(bytesMax)}. `,
      entries && mayCommand ? button("purge", "Purge all", { "data-danger": true }) : null),
    entries ? table(["Request", "Status", "Size", "Kept since", "For"], rows) : null,
  ].filter((part) => part !== null);
}

/** @param {Record<string, any>} snapshot */
async function activity(snapshot) {
  const [series, origins, lanes] = await Promise.all([call("GET", "/v1/series"), call("GET", "/v1/origins"), call("GET", "/v1/lanes")]);
  const incidents = snapshot.incidents.map((/** @type {Record<string, any>} */ one) => element("li", {},
    `${sentence(one)} ${next(one)} ${one.cause ? `Cause: ${one.cause.kind} while ${one.cause.phase}. ` : ""}`,
    element("a", { href: address({ tab: one.kind === "decision" ? "decision" : "waiting", q: `incident:${one.id}`, sort: "", cursor: "", id: "" }), "data-verb": "go" }, "Its requests")));
  const gates = origins.data.map((/** @type {Record<string, any>} */ one) => element("tr", {},
    element("th", { scope: "row", class: "request" }, visible(one.origin)), element("td", {}, element("span", { class: `gate ${one.gate}` }, one.gate)),
    element("td", {}, `${one.underWay} of ${one.window}`), element("td", {}, String(one.backlog)), element("td", {}, String(one.failures)),
    element("td", {}, one.canaryAt ? timeElement(one.canaryAt, "until") : null,
      ...one.pauses.map((/** @type {Record<string, any>} */ pause) => element("span", {}, ` pause (${pause.policy}) `, timeElement(pause.until, "until"))))));
  const order = lanes.data.map((/** @type {Record<string, any>} */ one) => element("tr", {},
    element("th", { scope: "row", class: "request" }, visible(one.lane)), element("td", {}, String(one.count)),
    element("td", {}, one.first ? element("a", { href: address({ id: one.first.id }), "data-verb": "open", "data-id": one.first.id },
      `${one.first.id.slice(0, 8)} (${one.first.state})`) : null),
    element("td", {}, one.blocked ? "waits for a person" : "goes on by itself")));
  return [
    element("h2", {}, "Incidents"), incidents.length ? element("ul", {}, ...incidents) : element("p", {}, "There is none."),
    element("h2", {}, "The last 15 minutes"), plot(series),
    element("h2", {}, "Servers"), gates.length ? table(["Server", "Gate", "Under way", "Backlog", "Failures", "Next"], gates) : element("p", {}, "No server has requests that wait."),
    element("h2", {}, "Lanes"), order.length ? table(["Lane", "Requests", "First", "Then"], order) : element("p", {}, "No lane has requests."),
  ];
}

/** @param {string[]} head @param {HTMLElement[]} rows */
function table(head, rows) {
  return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": head[0] ?? "" }, element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((name) => element("th", { scope: "col" }, name)))), element("tbody", {}, ...rows)));
}
