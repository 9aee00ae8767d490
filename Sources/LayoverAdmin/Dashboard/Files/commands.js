// @ts-check
// Commands for requests. Each goes out with what was shown, so that nothing else is meant.
import { Refused, call } from "./api.js";
import { ask, toast, typed } from "./dialogs.js";
import { clearSelection, selectedIDs } from "./selection.js";
import { button, counted, element, visible } from "./text.js";
import { names, note } from "./table.js";

/** @typedef {{ now: string, filter: Record<string, unknown> | null, incidents: Record<string, any>[] }} Snapshot */

/** @type {() => void} */
let done = () => {};

/** @param {() => void} listener Called after each command. */
export function onDone(listener) {
  done = listener;
}

const willGo = /** @type {Record<string, string>} */ ({
  now: "sent now", modeEnds: "will go when mode offline ends", laneFree: "will go when its lane is free",
  windowOpens: "will go in its turn", pauseEnds: "will go when the pause ends",
});

/**
 * @param {string} verb
 * @param {string} id
 * @param {number | undefined} revision What was shown.
 * @param {Record<string, unknown>} [body]
 */
export async function command(verb, id, revision, body = {}) {
  try {
    const entry = await call("POST", `/v1/pending/${id}/${verb}`, body, revision);
    const when = verb === "retry" ? ` ${willGo[entry.willGo] ?? "sent now"}` : " done";
    toast(`${names[verb] ?? verb}:${when}. ${entry.method} ${visible(entry.url)}`);
  } catch (error) {
    await explain(verb, id, error);
  }
  done();
}

/** What became of a request is told in words: a command that came too late is no error. @param {string} verb @param {string} id @param {unknown} error */
async function explain(verb, id, error) {
  if (!(error instanceof Refused) || ![404, 409, 412].includes(error.status)) {
    toast(`${names[verb] ?? verb} failed: ${reason(error)}`);
    return;
  }
  try {
    const { now } = await call("GET", `/v1/pending/${id}/explain`);
    const text = `Changed meanwhile, so nothing was done. ${visible(now.text)}`;
    note(id, text);
    toast(text);
  } catch {
    note(id, "It is not known any more.");
    toast(visible(error.message));
  }
}

/** @param {unknown} error */
function reason(error) {
  if (error instanceof Refused) return visible(error.message);
  return "Layover did not answer.";
}

/** @param {string} verb */
export async function commandSelected(verb) {
  const ids = selectedIDs();
  if (!ids.length) return;
  const act = () => bulk(verb, { ids });
  if (verb !== "cancel") return act();
  ask(`Cancel ${counted(ids.length, "request", "requests")}?`, [cancelText()], `Cancel ${ids.length}`, { isDanger: true }, act);
}

function cancelText() {
  return element("p", {}, "Their clients get an error, and they are not sent. What was accepted as a ticket ends too.");
}

/** "All" is all of the list as it was shown, on every page of it, and not what came since. @param {string} verb @param {Snapshot} shown */
export function commandAll(verb, shown) {
  if (!shown.filter) return;
  confirmMany(verb, { ...shown.filter, parkedBefore: shown.now });
}

/** @param {string} id @param {Snapshot} shown */
export function cancelIncident(id, shown) {
  confirmMany("cancel", { incident: id, state: ["waiting", "attempting", "held", "undecided"], parkedBefore: shown.now });
}

/** @param {string} id */
export async function retryIncident(id) {
  try {
    await call("POST", `/v1/incidents/${id}/retry`, {});
    toast("Retrying now.");
  } catch (error) {
    toast(error instanceof Refused && error.status === 404 ? "It is over already." : `Retry failed: ${reason(error)}`);
  }
  done();
}

/** @param {string} verb @param {Record<string, unknown>} filter */
async function confirmMany(verb, filter) {
  try {
    const { matched, later } = await call("POST", `/v1/pending/${verb}`, { filter, dryRun: true });
    if (matched === 0) {
      toast("None of them is there any more.");
      return done();
    }
    const content = [element("p", {}, `These are the requests that were shown${later ? `; ${later} that came later stay as they are` : ""}.`)];
    if (verb === "cancel") content.push(cancelText());
    const name = names[verb] ?? verb;
    ask(`${name} ${counted(matched, "request", "requests")}?`, content, `${name} ${matched}`, { isDanger: verb === "cancel" },
      () => bulk(verb, { filter }));
  } catch (error) {
    toast(`${names[verb] ?? verb} failed: ${reason(error)}`);
  }
}

/** @param {string} verb @param {Record<string, unknown>} which */
async function bulk(verb, which) {
  try {
    const result = await call("POST", `/v1/pending/${verb}`, which);
    clearSelection();
    const refused = /** @type {{ id: string, status: number }[]} */ (result.results).filter((one) => one.status !== 200);
    const when = Object.entries(result.willGo ?? {}).map(([name, count]) => `${count} ${willGo[name] ?? name}`).join(", ");
    const parts = [`${names[verb] ?? verb}: ${result.done} of ${result.matched} done${when ? ` (${when})` : ""}.`];
    if (refused.length) parts.push(`${refused.length} refused, because they changed meanwhile.`);
    if (result.later) parts.push(`${counted(result.later, "request", "requests")} came later.`);
    const list = refused.slice(0, 20).map((one) => element("li", {}, `${one.id.slice(0, 8)}: ${one.status}`));
    const rest = result.later ? button("rest", `${names[verb]} those too`, { "data-name": verb, "data-danger": verb === "cancel" }) : null;
    toast(parts.join(" "), ...(list.length ? [element("ul", {}, ...list)] : []), ...(rest ? [rest] : []));
  } catch (error) {
    toast(`${names[verb] ?? verb} failed: ${reason(error)}`);
  }
  done();
}

/** @param {Record<string, any>} entry */
export function force(entry) {
  ask("Send it although the server may have processed it?", [
    element("p", {}, `${entry.method} ${visible(entry.url)}`),
    element("p", {}, "The server may have acted on it already. If it has, it acts twice: a second order, a second payment."),
  ], "Send it again", { isDanger: true, words: "duplicate-risk" },
  () => command("force", entry.id, entry.revision, { acknowledge: "duplicate-risk" }));
}

/** @param {Record<string, any>} entry */
export function settle(entry) {
  ask("Has the server processed it?", [
    element("p", {}, `${entry.method} ${visible(entry.url)}`),
    element("p", {}, "Say so if you have looked there. It ends as delivered and is not sent again."),
    element("p", {}, element("label", { for: "note" }, "Note (may be empty): "), element("input", { type: "text", id: "note", maxlength: "500" })),
  ], "It has", { isDanger: true }, () => {
    const text = typed("note");
    return command("settle", entry.id, entry.revision, text ? { note: text } : {});
  });
}

/** @param {Record<string, any>} entry */
export function cancelOne(entry) {
  ask("Cancel this request?", [element("p", {}, `${entry.method} ${visible(entry.url)}`), element("p", {}, "Its client gets an error, and it is not sent.")],
    "Cancel it", { isDanger: true }, () => command("cancel", entry.id, entry.revision));
}
