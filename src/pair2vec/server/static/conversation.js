/** One panel's conversation with the server: the newest question counts, older ones are dropped. */

import { Unanswered, ask } from "./api.js";
import { button, element } from "./elements.js";

const PATIENCE_MS = 400;

/** @typedef {(name: string, parameters: Object<string, string>) => Promise<any>} Get */

export class Conversation {
  #message;
  #results;
  #newest = new AbortController();

  /** @param {HTMLElement} panel With a `.message` and `.results`. */
  constructor(panel) {
    this.#message = panel.querySelector(".message");
    this.#results = panel.querySelector(".results");
  }

  /**
   * Have questions answered and say what came of it.
   *
   * @param {(get: Get, results: HTMLElement) => Promise<string>} answering Shows the answers to
   *   the questions it asks with `get`, and returns a sentence on them.
   * @param {{again: () => void, replace: (word: string, by: string) => void}} ways Out of failure.
   */
  async hold(answering, ways) {
    this.#newest.abort();
    const mine = (this.#newest = new AbortController());
    const { signal } = mine;
    for (const old of this.#results.children) old.classList.add("old");
    const busy = (seconds, tries) => {
      clearTimeout(thinking); // it would hide that we wait
      this.#say("thinking", `The server is busy; asking again in ${seconds} s (${tries}).`);
    };
    const thinking = setTimeout(() => this.#say("thinking", "thinking…"), PATIENCE_MS);
    const get = (name, parameters) => ask(name, parameters, { signal, busy });
    try {
      const said = await answering(get, this.#results);
      if (!signal.aborted) this.#say("", said);
    } catch (error) {
      if (signal.aborted) return;
      mine.abort(); // what else was asked for the same purpose
      if (!(error instanceof Unanswered)) throw error;
      this.#results.replaceChildren();
      this.#say("failed", ...complaint(error, ways));
    } finally {
      clearTimeout(thinking);
    }
  }

  /** Ask nothing, for there is not enough to ask with. */
  rest(hint) {
    this.#newest.abort();
    this.#results.replaceChildren();
    this.#say("", hint);
  }

  #say(mood, ...parts) {
    this.#message.className = `message ${mood}`;
    this.#message.replaceChildren(...parts);
    this.#results.setAttribute("aria-busy", mood === "thinking");
  }
}

function complaint(error, { again, replace }) {
  if (error.word) return unknown(error, replace);
  const parts = [element("span", {}, error.message)];
  return error.again ? [...parts, button("Try again", again)] : parts;
}

function unknown({ word, alike }, replace) {
  const said = `The model does not know “${word}”.`;
  if (!alike.length) return [`${said} Try a more common word, or another spelling.`];
  const instead = alike.map((other) => button(other, () => replace(word, other)));
  return [element("span", {}, `${said} Did you mean`), ...instead];
}
