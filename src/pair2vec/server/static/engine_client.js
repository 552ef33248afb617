/** Questions to the engine in a worker, on pages without a server. */

let worker = null;
let onProgress = () => {};
let nextId = 0;
const pending = new Map();

/** Call `show` with the bytes of the model that are there, and all of them, while it is loaded. */
export function watchLoading(show) {
  onProgress = show;
}

/**
 * The answer to a question.
 *
 * @param {string} folder Of the model.
 * @param {AbortSignal} [signal]
 * @returns {Promise<{answer: any} | {error: Object}>}
 */
export function ask(folder, name, parameters, signal) {
  start(folder);
  const id = (nextId += 1);
  return new Promise((resolve, reject) => {
    pending.set(id, resolve);
    signal?.addEventListener("abort", () => {
      pending.delete(id);
      worker?.postMessage({ cancel: id });
      reject(signal.reason);
    });
    worker.postMessage({ id, name, parameters });
  });
}

function start(folder) {
  if (worker) return;
  const inside = document.getElementById("engine");
  worker = inside ? new Worker(blobOf(inside)) : new Worker(new URL("./engine/worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => receive(data);
  worker.onerror = (event) => stop({ error: `The engine failed: ${event.message || "it did not start"}`, canRetry: true });
  if (inside) return give(worker);
  const address = new URL(folder, document.baseURI);
  worker.postMessage({ open: address.href, cache: cacheName(address) });
}

/** A page of a single file has the engine inside, and the files of the model. */
function blobOf(script) {
  return URL.createObjectURL(new Blob([script.textContent], { type: "text/javascript" }));
}

function give(to) {
  const files = [...document.querySelectorAll("script[data-file]")];
  const contents = files.map(({ dataset, textContent }) => [dataset.file, decoded(textContent)]);
  to.postMessage({ contents: Object.fromEntries(contents) }, contents.map(([, content]) => content));
}

function decoded(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let n = 0; n < text.length; n += 1) bytes[n] = text.charCodeAt(n);
  return bytes.buffer;
}

/** As the service worker knows it. */
function cacheName(address) {
  return `pair2vec ${address.pathname}`;
}

function receive({ id, loaded, size, answer, error }) {
  if (loaded) onProgress(loaded, size);
  else if (id === undefined) stop(error);
  else {
    pending.get(id)?.(error ? { error } : { answer });
    pending.delete(id);
  }
}

/** Everything that was asked fails; the next question starts anew. */
function stop(error) {
  worker.terminate();
  worker = null;
  for (const resolve of pending.values()) resolve({ error });
  pending.clear();
}
