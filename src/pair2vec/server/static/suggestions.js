/** Words that begin as typed, under a field: a combobox as WAI-ARIA describes it. */

import { query } from "./api.js";
import { element } from "./elements.js";

const PAUSE_MS = 120;
const MAX_WORDS = 6;
const FIELD = {
  role: "combobox",
  "aria-autocomplete": "list",
  "aria-expanded": "false",
  autocapitalize: "off",
  autocomplete: "off",
  enterkeyhint: "search",
  maxlength: 64,
  spellcheck: "false",
};

export class Suggestions {
  #field;
  #list;
  #chosen = -1;
  #pause = 0;
  #newest = new AbortController();

  /** @param {HTMLInputElement} field */
  constructor(field) {
    this.#field = field;
    const id = `${field.id}-words`;
    this.#list = element("ul", { id, role: "listbox", "aria-label": "Words", hidden: "" });
    for (const [name, value] of Object.entries(FIELD)) field.setAttribute(name, value);
    field.setAttribute("aria-controls", id);
    field.after(this.#list);
    field.addEventListener("input", () => this.#openSoon());
    field.addEventListener("keydown", (event) => this.#press(event));
    field.addEventListener("blur", () => this.close());
    // The field keeps the focus, or its blur would close the list before the click.
    this.#list.addEventListener("mousedown", (event) => event.preventDefault());
    this.#list.addEventListener("click", (event) => this.#take(event.target.closest("li")));
  }

  close() {
    clearTimeout(this.#pause);
    this.#newest.abort();
    this.#list.hidden = true;
    this.#field.setAttribute("aria-expanded", "false");
    this.#choose(-1);
  }

  #openSoon() {
    this.close();
    const start = this.#field.value.trim();
    if (start) this.#pause = setTimeout(() => this.#open(start), PAUSE_MS);
  }

  async #open(start) {
    const { signal } = (this.#newest = new AbortController());
    const answer = await query("words", { start, top: MAX_WORDS }, { signal }).catch(() => null);
    if (signal.aborted || !answer) return; // missing suggestions are no error
    const words = answer.words.filter((word) => word !== start.toLowerCase());
    if (!words.length) return;
    this.#list.replaceChildren(...words.map((word, index) => this.#option(word, index)));
    this.#list.hidden = false;
    this.#field.setAttribute("aria-expanded", "true");
  }

  #option(word, index) {
    const id = `${this.#list.id}-${index}`;
    return element("li", { id, role: "option", "aria-selected": "false" }, word);
  }

  #press(event) {
    if (event.isComposing || this.#list.hidden) return;
    const { key } = event;
    if (key === "ArrowDown") this.#choose(this.#chosen + 1);
    else if (key === "ArrowUp") this.#choose(this.#chosen - 1);
    else if (key === "Escape") this.close();
    else if (key === "Enter" && this.#chosen >= 0) this.#take(this.#list.children[this.#chosen]);
    else {
      if (key === "Enter") this.close(); // what was typed is submitted
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  /** An option by its position; past the ends none, so that the typed text is chosen. */
  #choose(index) {
    const options = [...this.#list.children];
    const around = options.length + 1;
    this.#chosen = this.#list.hidden ? -1 : ((index + 1 + around) % around) - 1;
    options.forEach((one, at) => one.setAttribute("aria-selected", at === this.#chosen));
    this.#field.setAttribute("aria-activedescendant", options[this.#chosen]?.id ?? "");
  }

  #take(option) {
    if (!option) return;
    this.#field.value = option.textContent;
    this.close();
    this.#field.form.requestSubmit();
  }
}
