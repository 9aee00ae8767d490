// @ts-check
// A request as a command line of curl, for any POSIX shell.

/** What belongs to one connection or to this proxy, what curl adds by itself, and a coding that would make the output unreadable. */
const left = new Set([
  "host", "content-length", "connection", "transfer-encoding", "accept-encoding", "proxy-connection", "proxy-authorization", "keep-alive", "te",
  "upgrade", "expect", "trailer", "via",
]);

/** @param {string} text */
export function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** All bytes as printf writes them: octal, where they are no letter or digit. @param {Uint8Array} bytes */
function octal(bytes) {
  let text = "";
  for (const byte of bytes) {
    const sign = String.fromCharCode(byte);
    text += /[A-Za-z0-9 ]/.test(sign) ? sign : `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return text;
}

/** @param {Uint8Array} bytes @returns {string | null} */
export function utf8(bytes) {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    // A shell cannot hold NUL in a word.
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/**
 * @param {{ method: string, url: string, fields: { name: string, value: string }[], bytes: number }} request
 * @param {Uint8Array | null} body Null: not shown to this caller.
 */
export function curl(request, body) {
  const words = ["curl", "--path-as-is", "--globoff"];
  if (request.method === "HEAD") words.push("--head");
  else words.push("--request", quoted(request.method));
  const names = new Set(request.fields.map((field) => field.name.toLowerCase()));
  for (const { name, value } of request.fields) {
    if (left.has(name.toLowerCase())) continue;
    words.push("--header", quoted(value ? `${name}: ${value}` : `${name};`));
  }
  // What curl would add and the client did not send.
  for (const name of ["User-Agent", "Accept"]) if (!names.has(name.toLowerCase())) words.push("--header", quoted(`${name}:`));
  let before = "";
  if (request.bytes > 0) {
    words.push("--data-binary", "@-");
    if (!names.has("content-type")) words.push("--header", quoted("Content-Type:"));
    const text = body && utf8(body);
    if (!body) before = `# The body of ${request.bytes} bytes is not shown here: put it in the file body.\ncat body | `;
    else if (text !== null) before = `printf '%s' ${quoted(text)} | `;
    else before = `printf ${quoted(octal(body))} | `;
  }
  words.push(quoted(request.url));
  return before + words.join(" ");
}
