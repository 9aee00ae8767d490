// A client that speaks HTTP/2 to an intercepted host, by CONNECT: http2_client.mjs PROXY_PORT ORIGIN_PORT AUTHORITY_FILE CASE
// Prints one object of JSON.
import crypto from "node:crypto";
import fs from "node:fs";
import http2 from "node:http2";
import net from "node:net";
import tls from "node:tls";

const [proxyPort, originPort, authorityFile, name] = process.argv.slice(2);
const authority = `localhost:${originPort}`;

async function session(settings = {}) {
  const socket = net.connect(Number(proxyPort), "127.0.0.1");
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  const head = await new Promise((resolve, reject) => { socket.once("data", resolve); socket.once("error", reject); });
  if (!String(head).includes(" 200 ")) throw new Error(String(head));
  const secure = tls.connect({ socket, servername: "localhost", ca: fs.readFileSync(authorityFile), ALPNProtocols: ["h2"] });
  await new Promise((resolve, reject) => { secure.once("secureConnect", resolve); secure.once("error", reject); });
  const client = http2.connect(`https://${authority}`, { createConnection: () => secure, maxSendHeaderBlockLength: 1 << 20, settings });
  client.on("error", () => {});
  return client;
}

/** Sends a request and waits for all of its response. */
function exchange(client, headers, body, { options = {}, cancelAfter, trailers } = {}) {
  return new Promise((resolve) => {
    const stream = client.request(headers, { endStream: body === undefined, waitForTrailers: trailers !== undefined, ...options });
    if (trailers) stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    const hash = crypto.createHash("sha256");
    const result = { status: 0, length: 0, code: 0, informational: [], text: "" };
    stream.on("headers", (fields) => result.informational.push(fields[":status"]));
    stream.on("response", (fields) => { result.status = fields[":status"]; result.fields = fields; });
    stream.on("trailers", (fields) => { result.trailers = fields; });
    stream.on("data", (bytes) => {
      hash.update(bytes);
      result.length += bytes.length;
      if (result.length < 65536) result.text += bytes;
      if (cancelAfter !== undefined && result.length >= cancelAfter) stream.close(http2.constants.NGHTTP2_CANCEL);
    });
    stream.on("error", () => {});
    stream.on("close", () => resolve({ ...result, code: stream.rstCode, hash: hash.digest("hex") }));
    if (body !== undefined) {
      for (let start = 0; start < body.length; start += 30_000) stream.write(body.subarray(start, start + 30_000));
      stream.end();
    }
  });
}

const digest = (bytes) => crypto.createHash("sha256").update(bytes).digest("hex");
const block = Buffer.from(Array.from({ length: 65536 }, (_, index) => index % 256));
function pattern(count) {
  const hash = crypto.createHash("sha256");
  for (let left = count; left > 0; left -= block.length) hash.update(block.subarray(0, Math.min(left, block.length)));
  return hash.digest("hex");
}

const started = Date.now();
/** Says on standard error how far a case is, which the test shows where it fails. */
const step = (name) => process.stderr.write(`${name} after ${Date.now() - started} ms\n`);

const cases = {
  /** Bodies of many sizes in both directions at once, and others that are cancelled in between. */
  async bodies(client) {
    const all = [];
    for (let index = 0; index < 60; index += 1) {
      const size = [0, 1, 1000, 16384, 65535, 65536, 131073, 700_000, 3_000_000][index % 9];
      if (index % 3 === 0) {
        const body = crypto.randomBytes(size);
        const fields = { ":method": "POST", ":path": "/sink" };
        if (index % 2) fields["content-length"] = size;
        all.push(exchange(client, fields, body).then((got) => {
          const answer = JSON.parse(got.text);
          return got.status === 200 && answer.length === size && answer.sha256 === digest(body);
        }));
      } else if (index % 3 === 1) {
        all.push(exchange(client, { ":path": `/large/${size}` }).then((got) => got.status === 200 && got.length === size && got.hash === pattern(size)));
      } else {
        all.push(exchange(client, { ":path": "/large/3000000" }, undefined, { cancelAfter: 1 + index * 3000 }).then((got) => got.code === 8));
      }
    }
    const good = await Promise.all(all);
    return { good: good.filter(Boolean).length, all: good.length };
  },

  async fields(client) {
    const got = await exchange(client, { ":path": "/echo?q=1", cookie: ["a=1", "b=2"], te: "trailers", "x-mixed": "Value" });
    step("echo");
    const post = await exchange(client, { ":method": "POST", ":path": "/echo" });
    const head = await exchange(client, { ":method": "HEAD", ":path": "/large/1000" });
    step("head");
    const foreign = await exchange(client, { ":path": "/echo", ":authority": "other.example" });
    return {
      echo: JSON.parse(got.text), post: JSON.parse(post.text), head: [head.status, head.length, head.fields["content-length"]],
      foreign: foreign.status, hasConnectionFields: ["connection", "transfer-encoding", "keep-alive"].some((field) => field in got.fields),
      offersExtendedConnect: client.remoteSettings.enableConnectProtocol,
    };
  },

  /** Trailers in both directions, an interim response, a long field, and more refused streams than servers usually bear. */
  async semantics(client) {
    const headers = { ":method": "POST", ":path": "/trailers", te: "trailers", "x-long": "x".repeat(40_000) };
    const got = await exchange(client, headers, Buffer.from("a body"), { trailers: { "x-sum": "7" } });
    const refused = [];
    for (let index = 0; index < 250; index += 1) refused.push(exchange(client, { "content-length": "7", ":path": "/echo" }));
    const tooLong = await exchange(client, { ":path": "/echo", "x-long": "x".repeat(100_000) });
    const codes = new Set((await Promise.all(refused)).map((one) => one.code));
    const after = await exchange(client, { ":path": "/echo" });
    return {
      status: got.status, text: got.text, informational: got.informational, trailer: got.trailers && got.trailers["x-came"],
      tooLong: tooLong.status, codes: [...codes], after: after.status,
    };
  },

  /** A thousand that wait, and one that needs no origin. Prints `waiting` meanwhile. */
  async held(client) {
    const all = [];
    for (let index = 0; index < 1000; index += 1) all.push(exchange(client, { ":path": `/echo?${index}` }));
    const fresh = await exchange(client, { ":path": "/", ":authority": "other.example" });
    process.stdout.write("waiting\n");
    const got = await Promise.all(all);
    return { fresh: fresh.status, delivered: got.filter((one) => one.status === 200).length };
  },

  /** Three hundred that are given up together, while they wait. */
  async resets(client) {
    const streams = [];
    for (let index = 0; index < 300; index += 1) {
      const stream = client.request({ ":path": `/echo?${index}` });
      stream.on("error", () => {});
      streams.push(stream);
    }
    process.stdout.write("waiting\n");
    await new Promise((resolve) => process.stdin.once("data", resolve));
    await Promise.all(streams.map((stream) => new Promise((resolve) => { stream.on("close", resolve); stream.close(http2.constants.NGHTTP2_CANCEL); })));
    process.stdout.write("reset\n");
    const after = await exchange(client, { ":path": "/echo" });
    return { after: after.status };
  },

  /** A download whose reader pauses again and again. */
  async slow(client) {
    const size = 200 << 20;
    const stream = client.request({ ":path": `/large/${size}` });
    const hash = crypto.createHash("sha256");
    let [length, pauses] = [0, 0];
    await new Promise((resolve) => {
      stream.on("data", (bytes) => {
        hash.update(bytes);
        length += bytes.length;
        if (length > (pauses + 1) * (8 << 20)) {
          pauses += 1;
          stream.pause();
          setTimeout(() => stream.resume(), 20);
        }
      });
      stream.on("close", resolve);
      stream.on("error", () => {});
    });
    return { length, isRight: hash.digest("hex") === pattern(size), code: stream.rstCode };
  },

  /** Two thousand downloads of a client that gives no window, another client meanwhile, and then the window for some of them. */
  async windowless(client) {
    // Without a limit all of each body would wait in the proxy: 267 MiB.
    const [count, size, kept] = [400, 700_000, 20];
    const greedy = await session({ initialWindowSize: 0 });
    const streams = [];
    for (let index = 0; index < count; index += 1) {
      const stream = greedy.request({ ":path": `/large/${size}` });
      stream.on("error", () => {});
      streams.push(stream);
    }
    const statuses = await Promise.all(streams.map((stream) => new Promise((resolve) => {
      stream.once("response", (fields) => resolve(fields[":status"]));
      stream.once("close", () => resolve(0));
    })));
    step("heads");
    const fresh = await exchange(client, { ":path": "/large/3000000" });
    step("fresh");
    const bodies = streams.slice(0, kept).map((stream) => new Promise((resolve) => {
      const hash = crypto.createHash("sha256");
      let length = 0;
      stream.on("data", (bytes) => { hash.update(bytes); length += bytes.length; });
      stream.on("close", () => resolve(length === size && hash.digest("hex") === pattern(size)));
    }));
    for (const stream of streams.slice(kept)) stream.close(http2.constants.NGHTTP2_CANCEL);
    greedy.settings({ initialWindowSize: 1 << 20 });
    const whole = (await Promise.all(bodies)).filter(Boolean).length;
    step("whole");
    return { heads: statuses.filter((status) => status === 200).length, fresh: fresh.hash === pattern(3_000_000), whole };
  },

  /** One that waits until the proxy stops. */
  async stopped(client) {
    let goaway = false;
    client.on("goaway", () => { goaway = true; });
    const waiting = exchange(client, { ":path": "/echo" });
    process.stdout.write("waiting\n");
    const got = await waiting;
    await new Promise((resolve) => (client.destroyed || client.closed ? resolve() : client.on("close", resolve)));
    return { status: got.status, kind: JSON.parse(got.text).kind, goaway };
  },

  /** Requests that HTTP/2 forbids; the connection goes on. */
  async malformed(client) {
    const codes = [];
    for (const fields of [{ "x": "1", ":path": "no-slash" }, { "content-length": "7", ":path": "/echo" }]) {
      codes.push((await exchange(client, fields)).code);
    }
    const short = await exchange(client, { ":method": "POST", ":path": "/sink", "content-length": "9" }, Buffer.from("12345"));
    const long = await exchange(client, { ":method": "POST", ":path": "/sink", "content-length": "2" }, Buffer.from("12345"));
    const extended = { ":method": "CONNECT", ":scheme": "https", ":path": "/chat", ":protocol": "websocket" };
    const connect = await exchange(client, extended, undefined, { options: { endStream: false } });
    const after = await exchange(client, { ":path": "/echo" });
    return { codes: [...codes, short.code, long.code, connect.code], after: after.status };
  },
};

const client = await session();
step("session");
const result = await cases[name](client);
console.log(JSON.stringify(result));
client.destroy();
process.exit(0);
