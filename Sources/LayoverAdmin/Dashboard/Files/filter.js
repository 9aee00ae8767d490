// @ts-check
// The filter above the list. The server reads it; what it cannot read is said here and not remembered.
import { call } from "./api.js";
import { show, shown } from "./state.js";
import { byID, element } from "./text.js";

/** @type {number | undefined} */
let timer;

function field() {
  return /** @type {HTMLInputElement} */ (byID("q"));
}

export function watchFilter() {
  field().value = shown.q;
  field().addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(apply, 200);
  });
  byID("filter").addEventListener("submit", (event) => {
    event.preventDefault();
    apply();
  });
  field().addEventListener("keydown", (event) => {
    if (event.key === "Escape") clear();
  });
  field().addEventListener("focus", complete);
}

/** The page goes on with what is typed once the server could read it. */
async function apply() {
  const text = field().value.trim();
  if (text === shown.q) return say("");
  byID("busy").hidden = false;
  try {
    await call("GET", `/dashboard/snapshot?${new URLSearchParams({ tab: shown.tab, q: text })}`);
    // What was typed since is another question.
    if (field().value.trim() !== text) return;
    say("");
    show({ q: text, cursor: "" }, false);
  } catch (error) {
    if (field().value.trim() === text) say(error instanceof Error ? error.message : "The filter cannot be read.");
  } finally {
    byID("busy").hidden = true;
  }
}

/** @param {string} problem */
function say(problem) {
  byID("problem").textContent = problem;
  field().setAttribute("aria-invalid", String(problem !== ""));
  byID("clear").hidden = field().value === "";
}

export function clear() {
  field().value = "";
  say("");
  show({ q: "", cursor: "" }, false);
}

/** After Back, or a link. */
export function drawFilter() {
  if (document.activeElement !== field() && !byID("problem").textContent) field().value = shown.q;
  byID("clear").hidden = field().value === "";
}

/** Words that would find something, with how many. */
async function complete() {
  try {
    const { data } = await call("GET", "/dashboard/words");
    byID("words").replaceChildren(...data.map((/** @type {{ word: string, count: number }} */ one) =>
      element("option", { value: one.word, label: `${one.word} (${one.count})` })));
  } catch {
    // The filter works without them.
  }
}
