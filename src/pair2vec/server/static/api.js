/** Questions to the API of a server; or, on a page without one, to the engine in a worker. */

import { ask } from "./engine_client.js";

const MAX_RETRIES = 3;
const TIMEOUT_MS = 20_000;
const KEY = "pair2vec-api-key";

/** The folder of the model that comes with the page; empty where a server answers. */
export const localModel = document.documentElement.dataset.model ?? "";

/** A failed request, with a message for people. */
export class ApiError extends Error {
  /** @param {{word?: string, alike?: string[], canRetry?: boolean}} details */
  constructor(message, { word = "", alike = [], canRetry = false } = {}) {
    super(message);
    Object.assign(this, { word, alike, canRetry });
  }
}

/**
 * The answer to a query, retried while the server is busy.
 *
 * @param {string} name Of the endpoint, as in `/api/NAME`.
 * @param {Object<string, string | string[]>} parameters
 * @param {{signal?: AbortSignal, busy?: (seconds: number, tries: string) => void}} options
 *   `busy` is called before each retry with the seconds until then.
 * @throws {ApiError}
 */
export async function query(name, parameters = {}, options = {}) {
  return localModel ? askEngine(name, parameters, options) : askServer(name, parameters, options);
}

async function askEngine(name, parameters, { signal }) {
  const { answer, error } = await ask(localModel, name, parameters, signal);
  signal?.throwIfAborted();
  if (answer) return answer;
  throw new ApiError(error.error, error);
}

async function askServer(name, parameters, { signal, busy = () => {} }) {
  const given = Object.entries(parameters).flatMap(([key, value]) => [value].flat().map((one) => [key, one]));
  const address = `api/${name}?${new URLSearchParams(given)}`;
  for (let tries = 1; ; tries += 1) {
    const response = await sendWithKey(address, signal);
    if (response.status !== 503 && response.status !== 429) return read(response, signal);
    if (tries > MAX_RETRIES) {
      throw new ApiError("The server is busy.", { canRetry: true });
    }
    const seconds = Number(response.headers.get("Retry-After")) || 1;
    busy(seconds, `${tries} of ${MAX_RETRIES}`);
    await sleep(seconds, signal);
  }
}

let facts = null;

/** Facts about the model and the endpoints of the server, requested once. */
export function model() {
  facts ??= query("model").catch((error) => {
    facts = null; // so that it is requested again when the server is back
    throw error;
  });
  return facts;
}

/** Whether this server has an endpoint. */
export async function offers(name) {
  return (await model()).questions.includes(name);
}

/** Ask for the API key where the server wants one; it is kept until the browser is closed. */
async function sendWithKey(address, signal) {
  for (;;) {
    const key = sessionStorage.getItem(KEY);
    const response = await send(address, signal, key ? { "X-API-Key": key } : {});
    if (response.status !== 401) return response;
    // Another request may have asked meanwhile.
    if (sessionStorage.getItem(KEY) !== key) continue;
    const given = prompt("This server wants an API key:")?.replace(/[^!-~]/g, "");
    if (!given) return response;
    sessionStorage.setItem(KEY, given);
  }
}

async function send(address, signal, headers) {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await fetch(address, { headers, signal: signal ? AbortSignal.any([signal, limit]) : limit });
  } catch {
    signal?.throwIfAborted();
    throw new ApiError("The server does not answer. Is it running?", { canRetry: true });
  }
}

async function read(response, signal) {
  const answer = await response.json().catch(() => null);
  signal?.throwIfAborted();
  if (response.ok && answer) return answer;
  const message = answer?.error ?? `The server answered with status ${response.status}.`;
  throw new ApiError(message, { ...answer, canRetry: !answer || response.status >= 500 });
}

function sleep(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
