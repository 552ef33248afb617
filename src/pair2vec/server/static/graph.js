/**
 * A word and those related to it, drawn: the word in the middle, the others to both sides of it,
 * each on a line of its own so that no name covers another. Beside a list with the same content it
 * is hidden from screen readers; a map stands by itself, and has arrows.
 */

import { addressOf } from "./address.js";
import { arrowPoints } from "./arrows.js";
import { element, shape } from "./elements.js";

const LINE = 26;
const MARGIN = 18;
const LETTER = 9;
const COLOURS = 10;
/** From this width on a map names the relation behind each word. */
const WIDE = 620;
const SIDES = { ArrowLeft: -1, ArrowRight: 1 };

/** Built-in relations have fixed colours; others take the rest in turn. */
const relations = [
  "synonym",
  "antonym",
  "hypernym",
  "hyponym",
  "co-hyponym",
  "part",
  "whole",
  "located-in",
  "made-of",
  "occupation",
];

/** The class of a relation's colour. */
function colourOf(relation) {
  if (!relations.includes(relation)) relations.push(relation);
  return `relation-${relations.indexOf(relation) % COLOURS}`;
}

/** A dot in a relation's colour. */
export function dot(relation) {
  return element("span", { class: `dot ${colourOf(relation)}`, "aria-hidden": "true" });
}

export class Graph {
  #word;
  #matches;
  #hrefOf;
  #isMap;
  #onArrow = null;
  #chosen = "";
  #links = [];

  /**
   * @param {{word: string, relation: string, probability: number}[]} matches
   * @param {{hrefOf?: (word: string) => string, isMap?: boolean}} options Where a word leads to.
   */
  constructor(word, matches, { hrefOf = (word) => addressOf("word", { word }), isMap = false } = {}) {
    this.#word = word;
    this.#hrefOf = hrefOf;
    this.#isMap = isMap;
    // Grouped by relation.
    this.#matches = Object.values(Object.groupBy(matches, (match) => match.relation)).flat();
    const role = isMap ? { role: "group", "aria-label": `Words related to ${word}` } : { "aria-hidden": "true" };
    this.element = shape("svg", { class: "graph text", ...role });
    if (isMap) this.element.addEventListener("keydown", (event) => this.#press(event));
    // Redrawn, not scaled: names keep their size on a narrow screen.
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    const width = this.element.clientWidth;
    const half = Math.ceil(this.#matches.length / 2);
    const height = half * LINE + 2 * MARGIN;
    this.element.setAttribute("height", height);
    this.element.setAttribute("viewBox", `${-width / 2} ${-height / 2} ${width} ${height}`);
    const sides = [this.#matches.slice(0, half), this.#matches.slice(half).reverse()];
    const nodes = sides.flatMap((side, left) =>
      side.map((match, index) => this.#node(match, left ? -1 : 1, index, side.length, width)),
    );
    const edges = nodes.flatMap(({ edges, points }) => [...edges, ...points]);
    this.#links = nodes.map(({ link, x, y }) => ({ link, x, y }));
    const focused = this.#links.findIndex(({ link }) => link.getAttribute("href") === this.#focusedHref());
    this.element.replaceChildren(...edges, ...nodes.map(({ link }) => link), ...this.#middle());
    if (focused >= 0) this.focus(focused);
  }

  /** Let arrows be clicked: `show` is called with the word at the end of one. */
  onArrow(show) {
    this.#onArrow = show;
    this.draw();
  }

  /** Mark the arrow to a word. */
  choose(word) {
    this.#chosen = word;
    this.draw();
  }

  focus(index = 0) {
    this.#links[index]?.link.focus({ preventScroll: true });
  }

  #focusedHref() {
    const { activeElement } = document;
    return this.element.contains(activeElement) ? activeElement.getAttribute("href") : "";
  }

  /** Arrow keys lead to the next word on the same side, and to the nearest on the other. */
  #press(event) {
    const { key, target, altKey, ctrlKey, metaKey } = event;
    const own = this.#links.find(({ link }) => link === target);
    if (!own || altKey || ctrlKey || metaKey || !key.startsWith("Arrow")) return;
    const away = ({ y }) => Math.abs(y - own.y);
    const isThere = SIDES[key]
      ? ({ x }) => Math.sign(x) === SIDES[key] && Math.sign(own.x) !== SIDES[key]
      : ({ x, y }) => Math.sign(x) === Math.sign(own.x) && (key === "ArrowUp" ? y < own.y : y > own.y);
    const [nearest] = this.#links.filter(isThere).sort((one, other) => away(one) - away(other));
    event.preventDefault();
    nearest?.link.focus();
  }

  /** On an arch that is widest in the middle; the more probable, the nearer. */
  #node({ word, relation, probability }, side, index, count, width) {
    const y = (index - (count - 1) / 2) * LINE;
    const arch = Math.sqrt(1 - ((2 * y) / ((count + 1) * LINE)) ** 2);
    const near = Math.abs(y) < LINE ? this.#middleWidth() / 2 + 10 : 24;
    const letters = Math.floor((width / 2 - near - MARGIN) / LETTER);
    const isNamed = this.#isMap && width >= WIDE;
    const room = width / 2 - MARGIN - (isNamed ? LETTER * relation.length : 0) - LETTER * Math.min(word.length, letters);
    const wished = width * (0.2 + 0.16 * (1 - probability)) * (0.6 + 0.4 * arch);
    const x = side * Math.max(near, Math.min(room, wished));
    const colour = colourOf(relation);
    const d = `M0 0Q${(x / 2).toFixed(1)} ${y.toFixed(1)} ${x.toFixed(1)} ${y.toFixed(1)}`;
    const chosen = word === this.#chosen ? " chosen" : "";
    const edge = shape("path", { class: `edge ${colour}${chosen}`, d, "stroke-width": (1 + 2 * probability).toFixed(2) });
    const attributes = { x: x + 9 * side, y, "text-anchor": side < 0 ? "end" : "start" };
    const name = shape("text", { ...attributes, dy: "0.35em" }, shortened(word, letters));
    const label = name.textContent === word ? "" : `${name.textContent} `;
    if (isNamed) name.append(" ", shape("tspan", { class: "relation" }, relation));
    const said = `${word} ${relation}, ${probability.toFixed(2)}`;
    const knot = shape("circle", { class: colour, cx: x, cy: y, r: 4.5 });
    const role = this.#isMap ? { "aria-label": label + said } : { tabindex: -1 };
    const link = shape("a", { href: this.#hrefOf(word), ...role }, shape("title", {}, said), knot, name);
    const points = this.#isMap ? arrowPoints(relation, x, y, this.#middleWidth() / 2, colour) : [];
    return { edges: [edge, ...this.#hit(word, d)], link, x, y, points };
  }

  /** What is clicked of an arrow: it is thin. Who has no mouse chooses from a list of the words. */
  #hit(word, d) {
    if (!this.#onArrow) return [];
    const made = shape("path", { class: "hit", d }, shape("title", {}, `Sentences with ${this.#word} and ${word}`));
    made.addEventListener("click", () => this.#onArrow(word));
    return [made];
  }

  #middleWidth() {
    return this.#word.length * LETTER + 28;
  }

  #middle() {
    const width = this.#middleWidth();
    const box = { x: -width / 2, y: -16, width, height: 32, rx: 16 };
    const name = { class: "middle", "text-anchor": "middle", dy: "0.35em" };
    return [shape("rect", box), shape("text", name, this.#word)];
  }
}

function shortened(word, letters) {
  return word.length > letters ? `${word.slice(0, letters - 1)}…` : word;
}
