/** Questions to the server. */

const TRIES_WHEN_BUSY = 3;
const LONGEST_MS = 20_000;

/** Why there is no answer, for people. */
export class Unanswered extends Error {
  /** @param {{word?: string, alike?: string[], again?: boolean}} known `again`: it may help */
  constructor(message, { word = "", alike = [], again = false } = {}) {
    super(message);
    Object.assign(this, { word, alike, again });
  }
}

/**
 * The answer to a question.
 *
 * @param {string} name Of the question, as in `/api/NAME`.
 * @param {Object<string, string>} parameters
 * @param {{signal?: AbortSignal, busy?: (seconds: number, tries: string) => void}} options
 *   `busy` is told when the server is, and for how long we wait.
 * @throws {Unanswered}
 */
export async function ask(name, parameters = {}, { signal, busy = () => {} } = {}) {
  const address = `api/${name}?${new URLSearchParams(parameters)}`;
  for (let tries = 1; ; tries += 1) {
    const response = await send(address, signal);
    if (response.status !== 503) return read(response, signal);
    if (tries > TRIES_WHEN_BUSY) {
      throw new Unanswered("The server is busy.", { again: true });
    }
    const seconds = Number(response.headers.get("Retry-After")) || 1;
    busy(seconds, `${tries} of ${TRIES_WHEN_BUSY}`);
    await sleep(seconds, signal);
  }
}

let facts = null;

/** What is known of the model, asked once. */
export function model() {
  facts ??= ask("model").catch((error) => {
    facts = null; // so that it is asked again when the server is back
    throw error;
  });
  return facts;
}

/** Whether this server answers questions of that name. */
export async function offers(name) {
  return (await model()).questions.includes(name);
}

async function send(address, signal) {
  const limit = AbortSignal.timeout(LONGEST_MS);
  try {
    return await fetch(address, { signal: signal ? AbortSignal.any([signal, limit]) : limit });
  } catch {
    signal?.throwIfAborted();
    throw new Unanswered("The server does not answer. Is it running?", { again: true });
  }
}

async function read(response, signal) {
  const answer = await response.json().catch(() => null);
  signal?.throwIfAborted();
  if (response.ok && answer) return answer;
  const message = answer?.error ?? `The server answered with status ${response.status}.`;
  throw new Unanswered(message, { ...answer, again: !answer || response.status >= 500 });
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
