// @ts-check
// Attempts, deliveries and waiting requests of the last 15 minutes, drawn and as a table.
import { element } from "./text.js";
import { clock } from "./times.js";

const [width, height] = [720, 160];
const series = /** @type {const} */ ([["live", "Waiting"], ["attempted", "Attempts"], ["delivered", "Delivered"]]);

/** @param {string} name @param {Record<string, string>} attributes @param {...(Node | string)} children */
function svg(name, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** @param {{ interval: number, data: Record<string, any>[] }} document */
export function plot({ interval, data }) {
  const most = Math.max(1, ...data.flatMap((bucket) => series.map(([name]) => bucket[name])));
  const x = (/** @type {number} */ index) => ((index + 0.5) * width) / Math.max(1, data.length);
  const y = (/** @type {number} */ value) => height - (value * (height - 20)) / most;
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height + 20}`, role: "img", "aria-label": "The last 15 minutes; the table below has the same numbers" });
  drawn.append(svg("line", { x1: "0", y1: String(height), x2: String(width), y2: String(height), class: "axis" }));
  drawn.append(svg("text", { x: "4", y: "14", class: "scale" }, String(most)));
  for (const [name] of series) {
    const points = data.map((bucket, index) => `${x(index).toFixed(1)},${y(bucket[name]).toFixed(1)}`).join(" ");
    drawn.append(svg("polyline", { points, class: `line ${name}` }));
  }
  if (data.length) {
    drawn.append(svg("text", { x: "0", y: String(height + 16), class: "scale" }, clock(data[0]?.at)));
    drawn.append(svg("text", { x: String(width), y: String(height + 16), class: "scale end" }, clock(data[data.length - 1]?.at)));
  }
  const legend = element("p", { class: "legend" }, ...series.map(([name, label]) => element("span", { class: `key ${name}` }, label)));
  const rows = minutes(data, interval).map(([at, counts]) => element("tr", {}, element("th", { scope: "row" }, clock(at)),
    ...counts.map((count) => element("td", {}, String(count)))));
  const twin = element("table", {}, element("tr", {}, element("th", { scope: "col" }, "Minute"),
    ...series.map(([, label]) => element("th", { scope: "col" }, label))), ...rows);
  return element("figure", { class: "plot" }, drawn, legend,
    element("details", { class: "twin" }, element("summary", {}, "As a table"), twin));
}

/** Buckets as minutes: waiting is the newest of each, the others are sums. @param {Record<string, any>[]} data @param {number} interval @returns {[string, number[]][]} */
function minutes(data, interval) {
  const perMinute = Math.max(1, Math.round(60 / interval));
  /** @type {[string, number[]][]} */
  const found = [];
  for (let start = 0; start < data.length; start += perMinute) {
    const part = data.slice(start, start + perMinute);
    const sum = (/** @type {string} */ name) => part.reduce((total, bucket) => total + bucket[name], 0);
    found.push([part[0]?.at, [part[part.length - 1]?.live, sum("attempted"), sum("delivered")]]);
  }
  return found;
}
