/** One panel's requests: the newest counts, older ones are aborted. */

import { ApiError, query } from "./api.js";
import { button, element } from "./elements.js";

const QUIET_MS = 400;

/** @typedef {(name: string, parameters: Object<string, string>) => Promise<any>} Get */

export class Requests {
  #message;
  #results;
  #newest = new AbortController();

  /** @param {HTMLElement} panel With a `.message` and `.results`. */
  constructor(panel) {
    this.#message = panel.querySelector(".message");
    this.#results = panel.querySelector(".results");
  }

  /**
   * Abort what is running, show new results, and say what they are or why there are none.
   *
   * @param {(get: Get, results: HTMLElement) => Promise<string>} showResults Requests with `get`,
   *   fills `results`, and returns a summary.
   * @param {{retry: () => void, replace: (word: string, by: string) => void}} recovery
   */
  async run(showResults, recovery) {
    this.#newest.abort();
    const controller = (this.#newest = new AbortController());
    const { signal } = controller;
    for (const old of this.#results.children) old.classList.add("old");
    const busy = (seconds, tries) => {
      clearTimeout(thinking); // it would hide the retry
      this.#say("thinking", `The server is busy; retrying in ${seconds} s (${tries}).`);
    };
    const thinking = setTimeout(() => this.#say("thinking", "thinking…"), QUIET_MS);
    const get = (name, parameters) => query(name, parameters, { signal, busy });
    try {
      const summary = await showResults(get, this.#results);
      if (!signal.aborted) this.#say("", summary);
    } catch (error) {
      if (signal.aborted) return;
      controller.abort(); // the other requests of the same results
      if (!(error instanceof ApiError)) throw error;
      this.#results.replaceChildren();
      this.#say("failed", ...explanation(error, recovery));
    } finally {
      clearTimeout(thinking);
    }
  }

  /** Show no results, but what is missing in the form. */
  reset(hint) {
    this.#newest.abort();
    this.#results.replaceChildren();
    this.#say("", hint);
  }

  #say(state, ...parts) {
    this.#message.className = `message ${state}`;
    this.#message.replaceChildren(...parts);
    this.#results.setAttribute("aria-busy", state === "thinking");
  }
}

function explanation(error, { retry, replace }) {
  if (error.word) return unknownWord(error, replace);
  const parts = [element("span", {}, error.message)];
  return error.canRetry ? [...parts, button("Try again", retry)] : parts;
}

function unknownWord({ word, alike }, replace) {
  const message = `The model does not know “${word}”.`;
  if (!alike.length) return [`${message} Try a more common word, or another spelling.`];
  const choices = alike.map((other) => button(other, () => replace(word, other)));
  return [element("span", {}, `${message} Did you mean`), ...choices];
}
