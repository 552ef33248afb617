/** The engine in a worker: opens a model, then answers questions one by one, the oldest first. */

import { FILES, Model, errorContent } from "./model.js";
import { QuestionError } from "./text.js";

const LARGEST = "model.safetensors";

let model = null;
const waiting = new Map();
const turn = new MessageChannel();
turn.port1.onmessage = answerNext;

/**
 * Messages: `{open}` with an address, `{contents}` with the files of a model, `{id, name, parameters}`
 * is a question, and `{cancel}` with its id takes one back.
 *
 * Answers: `{loaded, size}` in bytes, `{id, answer}`, and `{id, error}` or `{error}`.
 */
self.onmessage = ({ data }) => {
  if (data.open) open(data);
  else if (data.contents) use(data.contents);
  else if ("cancel" in data) waiting.delete(data.cancel);
  else {
    waiting.set(data.id, data);
    turn.port2.postMessage(null);
  }
};

async function open({ open: folder, cache }) {
  try {
    const contents = await Promise.all(FILES.map((name) => read(new URL(name, folder), cache)));
    use(Object.fromEntries(FILES.map((name, n) => [name, contents[n]])));
  } catch (error) {
    postMessage({ error: { error: `The model could not be loaded: ${error.message}`, canRetry: true } });
  }
}

function use(contents) {
  model = new Model(contents);
  turn.port2.postMessage(null);
}

/** Answer one question; those that are taken back meanwhile have their turn to be forgotten. */
function answerNext() {
  if (!model || !waiting.size) return;
  const [{ id, name, parameters }] = waiting.values();
  waiting.delete(id);
  try {
    postMessage({ id, answer: model.ask(name, parameters) });
  } catch (error) {
    if (!(error instanceof QuestionError)) console.error(error);
    postMessage({ id, error: errorContent(error) });
  }
  if (waiting.size) turn.port2.postMessage(null);
}

/** A file from the cache, or from the server and then kept; only pages of https have a cache. */
async function read(address, name) {
  const cache = globalThis.caches && (await caches.open(name).catch(() => null));
  const kept = await cache?.match(address);
  if (kept) return kept.arrayBuffer();
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address.pathname}: status ${response.status}`);
  const content = await received(response, address);
  // What does not fit is read from the network again.
  await cache?.put(address, new Response(content)).catch(() => null);
  return content;
}

/** The body; of the largest file it is said how much has come. */
async function received(response, address) {
  const { headers } = response;
  const size = headers.has("Content-Encoding") ? 0 : Number(headers.get("Content-Length"));
  if (!address.pathname.endsWith(LARGEST) || !size) return response.arrayBuffer();
  const [parts, reader] = [[], response.body.getReader()];
  let loaded = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    parts.push(part.value);
    loaded += part.value.length;
    postMessage({ loaded, size });
  }
  return new Blob(parts).arrayBuffer();
}
