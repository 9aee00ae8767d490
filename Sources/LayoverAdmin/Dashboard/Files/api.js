// @ts-check
// Calls of the admin API.

/** How long an answer may take, in milliseconds. A stalled connection must not look like a quiet one. */
const timeouts = { read: 5000, command: 60_000 };

/** An answer that is none of success. */
export class Refused extends Error {
  /** @param {number} status @param {string} detail */
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @param {number} [revision] What was shown (`If-Match`).
 */
export async function call(method, path, body, revision) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (revision !== undefined) headers["If-Match"] = `"${revision}"`;
  const response = await fetch(path, {
    method, headers, body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(method === "GET" ? timeouts.read : timeouts.command), cache: "no-store",
  });
  const text = await response.text();
  if (response.ok) return text ? JSON.parse(text) : null;
  if (response.status === 401) location.assign(`/login?to=${encodeURIComponent(location.pathname + location.search)}`);
  let detail = `The answer is ${response.status}.`;
  try {
    detail = JSON.parse(text).detail ?? detail;
  } catch {
    // Not a problem document: the status says it.
  }
  throw new Refused(response.status, detail);
}

/** @param {string} path @param {number} most Bytes to read. @returns {Promise<{ bytes: Uint8Array, type: string, isWhole: boolean }>} */
export async function bytesOf(path, most) {
  const stop = new AbortController();
  const response = await fetch(path, { signal: stop.signal, cache: "no-store" });
  if (!response.ok || !response.body) {
    if (response.status === 204) return { bytes: new Uint8Array(), type: "", isWhole: true };
    const problem = await response.json().catch(() => ({}));
    throw new Refused(response.status, problem.detail ?? `The answer is ${response.status}.`);
  }
  const reader = response.body.getReader();
  /** @type {Uint8Array[]} */
  const parts = [];
  let count = 0;
  let isWhole = false;
  while (count <= most) {
    const { done, value } = await reader.read();
    if (done) {
      isWhole = true;
      break;
    }
    parts.push(value);
    count += value.length;
  }
  if (!isWhole) stop.abort();
  const bytes = new Uint8Array(Math.min(count, most));
  let offset = 0;
  for (const part of parts) {
    const rest = part.subarray(0, bytes.length - offset);
    bytes.set(rest, offset);
    offset += rest.length;
  }
  return { bytes, type: response.headers.get("Content-Type") ?? "", isWhole: isWhole && count <= most };
}
