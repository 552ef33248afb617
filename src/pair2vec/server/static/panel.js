/** A panel: a form whose state is asked about while it is filled in, and lives in the address. */

import { addressOf, completeAddress, settleAddress, writeAddress } from "./address.js";
import { Conversation } from "./conversation.js";
import { element } from "./elements.js";
import { Suggestions } from "./suggestions.js";

const PAUSE_MS = 150;

/**
 * @typedef {Object<string, string>} State
 * @typedef {Object} Kind
 * @property {string} name
 * @property {State[]} examples The first of them is what a newcomer sees.
 * @property {(state: State) => boolean} isComplete Whether there is enough to ask with.
 * @property {string} hint What is missing otherwise.
 * @property {(state: State) => (Node | string)[]} label Of an example.
 * @property {(fields: State) => State} toState
 * @property {(state: State) => State} toFields
 * @property {(state: State, get: Function, results: HTMLElement) => Promise<string>} answer
 */

export class Panel {
  #kind;
  #element;
  #form;
  #conversation;
  #answered;
  #pause = 0;

  /**
   * @param {Kind} kind
   * @param {() => void} answered Told of each answer.
   */
  constructor(kind, answered) {
    this.#kind = kind;
    this.#answered = answered;
    this.#element = document.getElementById(`panel-${kind.name}`);
    this.#form = this.#element.querySelector("form");
    this.#conversation = new Conversation(this.#element);
    this.#form.querySelectorAll("[data-suggest]").forEach((field) => new Suggestions(field));
    this.#form.addEventListener("input", () => this.#soon());
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
    const chips = kind.examples.map((example) => chip(kind, example));
    this.#element.querySelector(".examples").append("Try", ...chips);
  }

  /** The address of what it shows. */
  get address() {
    return addressOf(this.#kind.name, this.#state());
  }

  /** Show what an address says, and ask about it; of one that says nothing, the first example. */
  open(state) {
    const said = Object.keys(state).length > 0;
    this.#fillIn(said ? state : this.#kind.examples[0]);
    // Without an address it stays so until something is changed.
    if (location.hash) completeAddress(this.#kind.name, this.#state());
    this.#ask();
  }

  /** Take the focus from a link that led here and is there no longer. */
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
    const said = Object.entries(this.#kind.toState(fields)).map(([name, text]) => [name, text.trim()]);
    return Object.fromEntries(said.filter(([, text]) => text));
  }

  #fillIn(state) {
    this.#form.reset();
    this.#form.querySelectorAll("[type=hidden]").forEach((field) => (field.value = ""));
    for (const [name, value] of Object.entries(this.#kind.toFields(state))) {
      const field = this.#form.elements.namedItem(name);
      if (field) field.value = value;
    }
    this.#showNumbers();
  }

  #soon() {
    this.#showNumbers();
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#changed(), PAUSE_MS);
  }

  #changed() {
    writeAddress(this.#kind.name, this.#state());
    this.#ask();
  }

  #ask() {
    clearTimeout(this.#pause);
    const state = this.#state();
    if (!this.#kind.isComplete(state)) return this.#conversation.rest(this.#kind.hint);
    const answering = async (get, results) => {
      const said = await this.#kind.answer(state, get, results);
      this.#answered();
      return said;
    };
    const again = () => {
      this.#element.focus(); // the button that had it goes
      this.#ask();
    };
    return this.#conversation.hold(answering, { again, replace: this.#replace.bind(this) });
  }

  /** Another word wherever one stands, and ask again. */
  #replace(word, by) {
    const escaped = word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    const whole = new RegExp(`(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`, "giu");
    for (const field of this.#form.querySelectorAll(".text")) {
      const mended = field.value.replace(whole, () => by);
      if (mended === field.value) continue;
      field.value = mended;
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

function chip(kind, example) {
  const href = addressOf(kind.name, example);
  return element("a", { class: "chip text", href }, ...kind.label(example));
}
