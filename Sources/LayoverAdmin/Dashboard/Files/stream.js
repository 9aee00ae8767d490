// @ts-check
// Tells that something has changed. One tab of a browser holds the event stream and tells the others: a browser opens six
// connections to a server, and seven streams would keep every click from getting through.

/** How long a hidden tab keeps the stream, in milliseconds. */
const hiddenFor = 30_000;
/** How often a page asks without a stream. */
const askEvery = 2000;

const names = [
  "snapshot", "request.parked", "request.attempted", "request.changed", "request.ended", "incident.opened", "incident.updated",
  "incident.closed", "reachability.changed", "config.reloaded", "rehearsal.changed",
];

const others = "BroadcastChannel" in window ? new BroadcastChannel("layover-changes") : null;
/** @type {() => void} */
let changed = () => {};
/** @type {string} */
let after = "";
/** @type {EventSource | null} */
let source = null;
/** @type {(() => void) | null} */
let release = null;
/** @type {AbortController | null} */
let wait = null;
/** @type {number | undefined} */
let asking;

/**
 * @param {string} lastEventID Of the snapshot in the page.
 * @param {() => void} listener
 */
export function follow(lastEventID, listener) {
  after = lastEventID;
  changed = listener;
  others?.addEventListener("message", listener);
  /** @type {number | undefined} */
  let timer;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(stop, hiddenFor);
    else {
      start();
      changed();
    }
  });
  start();
}

export function isFollowing() {
  return source !== null || wait !== null || asking !== undefined;
}

function start() {
  if (isFollowing()) return;
  if (!navigator.locks || !others) {
    // Only secure origins have locks. Asking needs no connection that stays.
    asking = setInterval(changed, askEvery);
    return;
  }
  wait = new AbortController();
  navigator.locks.request("layover-stream", { signal: wait.signal }, () => {
    open();
    return /** @type {Promise<void>} */ (new Promise((resolve) => { release = resolve; }));
  }).catch(() => {
    // Stopped while it waited for the other tab.
  });
}

function open() {
  source = new EventSource(`/v1/events?after=${encodeURIComponent(after)}`);
  const tell = () => {
    changed();
    others?.postMessage("changed");
  };
  for (const name of names) source.addEventListener(name, tell);
  source.addEventListener("open", tell);
  // A browser gives up where the answer is no stream, such as that of a proxy before a restarted server.
  source.addEventListener("error", () => {
    if (source?.readyState !== EventSource.CLOSED) return;
    source = null;
    setTimeout(() => { if (release && !source) open(); }, askEvery);
  });
}

function stop() {
  clearInterval(asking);
  asking = undefined;
  source?.close();
  source = null;
  release?.();
  release = null;
  wait?.abort();
  wait = null;
}
