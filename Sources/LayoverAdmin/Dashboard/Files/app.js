// @ts-check
// The page: fetches snapshots, draws them, and turns clicks and keys into commands.
import { call } from "./api.js";
import * as banner from "./banner.js";
import * as commands from "./commands.js";
import * as detail from "./detail.js";
import { ask, close, goOn, toast, watchWords } from "./dialogs.js";
import { clear, drawFilter, watchFilter } from "./filter.js";
import { isBusy, isMeant, isPressed, watchPlaces, watchPointer } from "./guard.js";
import { help, watchKeys } from "./keys.js";
import * as lists from "./lists.js";
import * as selection from "./selection.js";
import { address, listQuery, onChange, show, shown } from "./state.js";
import { follow, isFollowing } from "./stream.js";
import * as table from "./table.js";
import { button, byID, copy, counted, element, replace, visible } from "./text.js";
import * as times from "./times.js";

/** @typedef {Record<string, any>} Snapshot What the server says, all at one instant. */

/** Least time between two redraws, in milliseconds. */
const drawEvery = 250;
/** How often the page asks although nothing was told, in milliseconds: a stream may be dead without an error. */
const checkEvery = 10_000;

const tabs = /** @type {[string, string, string[]][]} */ ([
  ["waiting", "Waiting", ["waiting", "attempting"]], ["decision", "Needs decision", ["undecided"]], ["held", "Held", ["held"]],
  ["recent", "Recent", []], ["tickets", "Tickets", []], ["cache", "Cache", []], ["incidents", "Incidents", []],
]);

/** @type {Snapshot} */
let latest = JSON.parse(byID("snapshot").textContent ?? "{}");
/** What the rows show; what "all" means. @type {Snapshot} */
let drawn = latest;
let drawnQuery = listQuery();
let latestQuery = drawnQuery;
let isStale = false;
let heardAt = performance.now();
let isFetching = false;
let isWanted = false;
/** Whether something was not drawn because the pointer was down. */
let isHeldBack = false;
let fetchedAt = 0;
let announcedAt = 0;
/** @type {number | undefined} */
let timer;

// MARK: Fetching

/** Changes come in bursts: there is one request at a time, and four in a second at most. */
function refresh() {
  isWanted = true;
  if (isFetching || timer !== undefined || document.hidden) return;
  timer = setTimeout(fetchNow, Math.max(0, fetchedAt + drawEvery - performance.now()));
}

async function fetchNow() {
  timer = undefined;
  // Hidden meanwhile. It is drawn when it is seen.
  if (document.hidden) return;
  isWanted = false;
  isFetching = true;
  fetchedAt = performance.now();
  const query = listQuery();
  try {
    const snapshot = await call("GET", `/dashboard/snapshot${query}`);
    heard();
    // What the page shows may have changed meanwhile.
    if (query === listQuery()) {
      [latest, latestQuery] = [snapshot, query];
      times.setServerTime(snapshot.now);
      drawAll();
    } else isWanted = true;
  } catch (error) {
    if (error instanceof Error && "status" in error) {
      heard();
      byID("problem").textContent = visible(error.message);
    } else lost();
  } finally {
    isFetching = false;
  }
  if (isWanted) refresh();
}

function heard() {
  heardAt = performance.now();
  if (!isStale) return;
  isStale = false;
  times.setStopped(false);
  document.body.classList.remove("stale");
  byID("stale").hidden = true;
}

/** The list stays as it was; nothing on it may pretend to be known. */
function lost() {
  isStale = true;
  times.setStopped(true);
  document.body.classList.add("stale");
  const seconds = Math.round((performance.now() - heardAt) / 1000);
  byID("stale").textContent = `Layover does not answer. This is what was known ${seconds} s ago.`;
  byID("stale").hidden = false;
}

// MARK: Drawing

function drawAll() {
  if (isPressed()) {
    isHeldBack = true;
    return;
  }
  isHeldBack = false;
  drawHead();
  const entries = latest.data;
  const isSame = drawnQuery === latestQuery;
  const changes = table.changesTo(entries);
  if (isSame && changes > 0 && isBusy(selection.selectedCount())) {
    table.patch(entries);
    offerChanges(changes);
  } else drawList();
  void detail.draw(shown.id);
  void lists.draw(shown.tab, latest);
}

function drawHead() {
  banner.drawRehearsals(latest.rehearsals, latest.role !== "viewer");
  banner.draw(latest.incidents, isStale);
  const { state, mode } = latest.reachability;
  const frozen = latest.tunnels.frozen ? `; frozen tunnels: ${latest.tunnels.frozen}` : "";
  byID("network").textContent = `Network: ${state}${mode === "auto" ? "" : ", set by a person"}${frozen}`;
  byID("network").className = state;
  const chooser = /** @type {HTMLSelectElement} */ (byID("mode"));
  chooser.disabled = latest.role === "viewer";
  byID("logout").hidden = !latest.isLoggedIn;
  if (document.activeElement !== chooser) chooser.value = mode;
  const counts = latest.counts;
  replace(byID("tabs"), [shown.tab, counts, latest.incidents.length], () => tabs.map(([name, label, states]) => {
    const count = name === "incidents" ? latest.incidents.length : states.reduce((sum, state) => sum + counts[state], 0);
    return element("a", {
      href: address({ tab: name, q: "", sort: "", cursor: "", id: "" }), "data-verb": "go", "aria-current": name === shown.tab ? "page" : undefined,
    }, label, count ? element("span", { class: "count" }, ` ${count.toLocaleString("en")}`) : null);
  }));
  const waiting = counts.waiting + counts.attempting + counts.undecided + counts.held;
  document.title = waiting ? `(${waiting}) Layover` : "Layover";
  const words = banner.summary(latest.incidents, counts);
  // A screen reader is told one sentence, and not more than one in ten seconds.
  if (byID("announce").textContent !== words && performance.now() - announcedAt > 10_000) {
    byID("announce").textContent = words;
    announcedAt = performance.now();
  }
}

function drawList() {
  const isNew = drawnQuery !== latestQuery;
  [drawn, drawnQuery] = [latest, latestQuery];
  const isList = latest.filter !== null;
  byID("table").hidden = !isList || latest.data.length === 0;
  byID("filter").hidden = !isList;
  byID("changes").hidden = true;
  if (isNew) selection.clearSelection();
  table.draw(isList ? latest.data : []);
  selection.draw();
  drawFilter();
  const order = shown.sort || (shown.tab === "recent" ? "-endedAt" : "parkedAt");
  for (const head of document.querySelectorAll("th[data-field]")) {
    const field = head.getAttribute("data-field");
    if (order === field) head.setAttribute("aria-sort", "ascending");
    else if (order === `-${field}`) head.setAttribute("aria-sort", "descending");
    else head.removeAttribute("aria-sort");
  }
  drawEmpty(isList);
  replace(byID("pages"), [address({ id: "" }), latest.nextCursor], () => [
    shown.cursor ? element("a", { href: address({ cursor: "" }), "data-verb": "go" }, "First page") : "",
    latest.nextCursor ? element("a", { href: address({ cursor: latest.nextCursor }), "data-verb": "go" }, "Next page") : ""]);
  drawBulk();
}

/** "Nothing waits" is another thing than "the filter hides it". @param {boolean} isList */
function drawEmpty(isList) {
  const place = byID("empty");
  if (!isList || latest.data.length > 0) return place.replaceChildren();
  const states = tabs.find(([name]) => name === shown.tab)?.[2] ?? [];
  const hidden = states.reduce((sum, state) => sum + latest.counts[state], 0);
  if (shown.q && hidden > 0) {
    return place.replaceChildren(element("p", {}, `The filter hides ${counted(hidden, "request", "requests")}. `), button("clear-filter", "Clear the filter"));
  }
  const proxy = latest.proxy.find((/** @type {string} */ url) => url.startsWith("http"));
  place.replaceChildren(element("p", {}, shown.tab === "waiting" ? "Nothing is waiting." : "Nothing is here."),
    ...(proxy && shown.tab === "waiting" ? [element("p", {}, "Programs use this proxy with:"), element("pre", { tabindex: "0" }, `export http_proxy=${proxy}`),
      button("copy-proxy", "Copy")] : []));
}

/** @param {number} count */
function offerChanges(count) {
  const place = byID("changes");
  place.hidden = false;
  const shower = place.querySelector("button");
  if (shower) shower.textContent = `${counted(count, "change", "changes")} – show`;
}

function drawBulk() {
  const place = byID("bulk");
  const count = selection.selectedCount();
  const isLive = latest.filter !== null && shown.tab !== "recent" && latest.role !== "viewer";
  const wanted = `${count} ${isLive} ${shown.tab} ${drawn.data.length > 0}`;
  if (place.dataset.drawn === wanted) return;
  place.dataset.drawn = wanted;
  if (!isLive || drawn.data.length === 0) return place.replaceChildren();
  const verbs = shown.tab === "held" ? ["retry", "release", "cancel"] : ["retry", "hold", "cancel"];
  if (count > 0) {
    place.replaceChildren(element("span", {}, `${count} selected`),
      ...verbs.map((verb) => button("selected", table.names[verb] ?? verb, { "data-name": verb, "data-danger": verb === "cancel" })),
      button("untick", "Untick"));
  } else {
    place.replaceChildren(...verbs.map((verb) =>
      button("all", `${table.names[verb]} all…`, { "data-name": verb, "data-danger": verb === "cancel" })));
  }
}

// MARK: Clicks

/** @type {Record<string, (target: HTMLElement, event: MouseEvent) => void>} */
const verbs = {
  go: (target) => show(parameters(target)),
  open: (target) => show({ id: target.dataset.id ?? "" }),
  "close-detail": () => closeDetail(),
  sort: (target) => {
    const field = target.dataset.field ?? "";
    show({ sort: shown.sort === field ? `-${field}` : field, cursor: "" });
  },
  "clear-filter": () => clear(),
  "show-changes": () => {
    selection.clearSelection();
    drawList();
  },
  help: () => help(),
  confirm: () => goOn(),
  "close-dialog": () => close(),
  "close-toast": (target) => target.closest(".toast")?.remove(),
  selected: (target) => void commands.commandSelected(target.dataset.name ?? ""),
  all: (target) => commands.commandAll(target.dataset.name ?? "", /** @type {any} */ (drawn)),
  rest: (target) => {
    target.closest(".toast")?.remove();
    commands.commandAll(target.dataset.name ?? "", /** @type {any} */ (latest));
  },
  untick: () => selection.clearSelection(),
  "incident-retry": (target) => void commands.retryIncident(target.dataset.id ?? ""),
  "incident-cancel": (target) => commands.cancelIncident(target.dataset.id ?? "", /** @type {any} */ (latest)),
  "rehearsal-stop": (target) => void call("DELETE", `/v1/rehearsals/${target.dataset.id}`)
    .then(refresh, (error) => toast(visible(error.message))),
  preview: () => void detail.preview(),
  "copy-curl": () => void detail.copyAsCurl(),
  "copy-id": () => void detail.copyID(),
  "copy-proxy": () => void copy(document.querySelector("#empty pre")?.textContent ?? ""),
  purge: () => ask("Purge all kept responses?", [element("p", {}, "Nothing can then be read offline until it was fetched again.")], "Purge",
    { isDanger: true }, () => void call("POST", "/v1/cache/purge", { all: true }).then(refresh, (error) => toast(visible(error.message)))),
};
for (const name of ["retry", "hold", "release", "abort"]) {
  verbs[name] = (target) => {
    const { id, revision } = meant(target);
    const row = target.closest("#rows tr");
    void commands.command(name, id, revision);
    // The request may leave the list: the focus goes on to the next one.
    if (row && row.contains(document.activeElement)) table.moveFocus(1);
  };
}
verbs.cancel = (target) => {
  const { id } = meant(target);
  const entry = entryOf(id);
  if (entry) commands.cancelOne(entry);
};
verbs.force = () => withOpen(commands.force);
verbs.settle = () => withOpen(commands.settle);

/** @param {(entry: Record<string, any>) => void} work */
function withOpen(work) {
  const entry = detail.openEntry();
  if (entry) work(entry);
}

/** @param {string} id What was shown of it, which may be older than what is known. */
function entryOf(id) {
  const open = detail.openEntry();
  return drawn.data.find((/** @type {any} */ entry) => entry.id === id) ?? (open?.id === id ? open : undefined);
}

/** @param {HTMLElement} target */
function meant(target) {
  const id = target.dataset.id ?? "";
  const row = /** @type {HTMLElement | null} */ (target.closest("#rows tr"));
  const shownRevision = row ? Number(row.dataset.revision) : detail.openEntry()?.revision;
  return { id, revision: /** @type {number | undefined} */ (shownRevision) };
}

/** @param {HTMLElement} target */
function parameters(target) {
  const query = new URL(/** @type {HTMLAnchorElement} */ (target).href).searchParams;
  return {
    tab: query.get("tab") || "waiting", q: query.get("q") ?? "", sort: query.get("sort") ?? "", cursor: query.get("cursor") ?? "",
    id: query.get("id") ?? "",
  };
}

function closeDetail() {
  const id = shown.id;
  show({ id: "" });
  /** @type {HTMLElement | null} */ (document.querySelector(`#rows [data-id="${CSS.escape(id)}"] a`))?.focus();
}

document.addEventListener("click", (event) => {
  const target = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-verb]"));
  const act = target && verbs[target.dataset.verb ?? ""];
  if (!target || !act || target.matches("select, :disabled")) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (isMeant(target, event)) act(target, event);
  else toast("The page had just changed under the pointer. Nothing was done; click again.");
});

document.addEventListener("click", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || box.type !== "checkbox") return;
  const row = /** @type {HTMLTableRowElement | null} */ (box.closest("#rows tr"));
  if (row) selection.select(row, box.checked, event.shiftKey);
  else if (box.id === "all") selection.selectAll(box.checked);
  else if (box.dataset.attempt) detail.compare();
});

document.addEventListener("change", (event) => {
  const chooser = event.target;
  if (!(chooser instanceof HTMLSelectElement)) return;
  if (chooser.id === "mode") {
    call("PUT", "/v1/reachability", { mode: chooser.value, reason: "dashboard" })
      .then(refresh, (error) => toast(`The mode was not changed: ${visible(error.message)}`));
  } else if (chooser.id === "zone") {
    times.setZone(chooser.value);
    times.fillAll();
    drawAll();
  } else if (chooser.id === "theme") {
    times.store("layover-theme", chooser.value);
    if (chooser.value === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chooser.value;
  }
});

/** @param {number} step */
function tickOn(step) {
  const from = table.focusedRow();
  if (from && selection.selectedCount() === 0) selection.select(from, true, false);
  const to = table.moveFocus(step);
  if (to instanceof HTMLTableRowElement) selection.select(to, true, true);
}

/** @param {string} verb */
function press(verb) {
  /** @type {HTMLElement | null | undefined} */ (table.focusedRow()?.querySelector(`[data-verb="${verb}"]`))?.click();
}

watchKeys({
  j: () => table.moveFocus(1), k: () => table.moveFocus(-1), r: () => press("retry"), c: () => press("cancel"),
  x: () => {
    const row = table.focusedRow();
    if (row) selection.select(row, !selection.isSelected(row.dataset.id ?? ""), false);
  },
  a: () => selection.selectAll(true), "/": () => byID("q").focus(), "?": () => help(),
  ShiftArrowDown: () => tickOn(1), ShiftArrowUp: () => tickOn(-1),
  Escape: () => { if (shown.id) closeDetail(); else selection.clearSelection(); },
});

// MARK: Start

times.setServerTime(latest.now);
/** @type {HTMLSelectElement} */ (byID("zone")).value = times.zoneName();
/** @type {HTMLSelectElement} */ (byID("theme")).value = document.documentElement.dataset.theme ?? "system";
selection.onSelection(drawBulk);
commands.onDone(refresh);
watchWords();
watchPlaces();
watchFilter();
watchPointer(() => { if (isHeldBack || (!byID("changes").hidden && !isBusy(selection.selectedCount()))) drawAll(); });
onChange(() => {
  drawHead();
  void detail.draw(shown.id);
  if (listQuery() !== latestQuery) refresh();
});
// A link that could not be read shows the first tab, and says why.
if (latest.problem) show({ tab: "waiting", q: "", sort: "", cursor: "" }, false);
else drawnQuery = latestQuery = listQuery();
drawAll();
follow(latest.lastEventId, refresh);
setInterval(() => {
  if (document.hidden) return;
  times.fillAll();
  banner.draw(latest.incidents, isStale);
  if (isStale) {
    lost();
    refresh();
  } else if (performance.now() - heardAt > checkEvery || !isFollowing()) refresh();
}, 1000);
document.body.dataset.ready = "yes";
