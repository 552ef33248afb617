/** A panel: a form that is queried while it is filled in; its state is kept in the address. */

import { addressOf, completeAddress, settleAddress, writeAddress } from "./address.js";
import { notingComposed } from "./composed.js";
import { element } from "./elements.js";
import { wholeWords } from "./pattern.js";
import { Requests } from "./requests.js";
import { Suggestions } from "./suggestions.js";
import { tools } from "./tools.js";

const PAUSE_MS = 150;

/**
 * @typedef {Object<string, string>} State
 * @typedef {Object} PanelSpec
 * @property {string} name
 * @property {State[]} examples The first is shown where the address has no query.
 * @property {(state: State) => boolean} isComplete Whether it can be queried.
 * @property {string} hint What is missing if not.
 * @property {(state: State) => (Node | string)[]} label Of an example.
 * @property {(fields: State) => State} toState
 * @property {(state: State) => State} toFields
 * @property {(state: State, get: Function, results: HTMLElement) => Promise<string>} answer
 */

export class Panel {
  #spec;
  #element;
  #form;
  #requests;
  #onAnswer;
  #pause = 0;

  /**
   * @param {PanelSpec} spec
   * @param {() => void} onAnswer Called after each answer.
   */
  constructor(spec, onAnswer) {
    this.#spec = spec;
    this.#onAnswer = onAnswer;
    this.#element = document.getElementById(`panel-${spec.name}`);
    this.#form = this.#element.querySelector("form");
    const chips = spec.examples.map((example) => chip(spec, example));
    this.#element.append(
      element("div", { class: "examples" }, "Try", ...chips),
      element("p", { class: "message", role: "status", "aria-live": "polite" }),
      element("div", { class: "results" }),
    );
    this.#requests = new Requests(this.#element);
    this.#form.querySelectorAll("[data-suggest]").forEach((field) => new Suggestions(field));
    this.#form.addEventListener("input", () => this.#changeSoon());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#changed();
      settleAddress();
    });
    // A form of several fields and no button is not sent by Enter on its own.
    this.#form.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      this.#form.requestSubmit();
    });
  }

  /** The address of what it shows. */
  get address() {
    return addressOf(this.#spec.name, this.#state());
  }

  /** Show and query the state of an address, or the first example where it has none. */
  open(state) {
    const isEmpty = Object.keys(state).length === 0;
    this.#fillIn(isEmpty ? this.#spec.examples[0] : state);
    // An empty address stays empty until something is changed.
    if (location.hash) completeAddress(this.#spec.name, this.#state());
    this.#query();
  }

  /** Take the focus from a link that is no longer there. */
  takeFocus() {
    if (!document.activeElement.closest(".results, [hidden]")) return;
    this.#element.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  focusFirstField() {
    const field = this.#form.querySelector("input");
    field.focus();
    field.select();
  }

  #state() {
    const fields = Object.fromEntries(new FormData(this.#form));
    const entries = Object.entries(this.#spec.toState(fields)).map(([name, text]) => [name, text.trim()]);
    return Object.fromEntries(entries.filter(([, text]) => text));
  }

  #fillIn(state) {
    this.#form.reset();
    this.#form.querySelectorAll("[type=hidden]").forEach((field) => (field.value = ""));
    for (const [name, value] of Object.entries(this.#spec.toFields(state))) {
      const field = this.#form.elements.namedItem(name);
      if (field) field.value = value;
    }
    this.#showNumbers();
  }

  #changeSoon() {
    this.#showNumbers();
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#changed(), PAUSE_MS);
  }

  #changed() {
    writeAddress(this.#spec.name, this.#state());
    this.#query();
  }

  #query() {
    clearTimeout(this.#pause);
    const state = this.#state();
    if (!this.#spec.isComplete(state)) return this.#requests.reset(this.#spec.hint);
    const replace = this.#replace.bind(this);
    const showResults = async (get, results) => {
      const { getAndNote, notes } = notingComposed(get, replace);
      const summary = await this.#spec.answer(state, getAndNote, results);
      results.prepend(...notes());
      results.append(tools(results, this.#spec.name));
      this.#onAnswer();
      return summary;
    };
    const retry = () => {
      this.#element.focus(); // the button that had it is removed
      this.#query();
    };
    return this.#requests.run(showResults, { retry, replace });
  }

  /** Replace a word in all fields, and query again. */
  #replace(word, by) {
    for (const field of this.#form.querySelectorAll(".text")) {
      const corrected = field.value.replace(wholeWords(word), () => by);
      if (corrected === field.value) continue;
      field.value = corrected;
      field.focus();
    }
    this.#form.requestSubmit();
  }

  #showNumbers() {
    for (const output of this.#form.querySelectorAll("output")) {
      output.value = Number(this.#form.elements.namedItem("alpha").value).toFixed(2);
    }
  }
}

function chip(spec, example) {
  const href = addressOf(spec.name, example);
  return element("a", { class: "chip text", href }, ...spec.label(example));
}
