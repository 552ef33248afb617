/**
 * A word and those related to it, drawn: the word in the middle, the others to both sides of it,
 * each on a line of its own so that no name covers another. The list beside it has the same
 * content for screen readers.
 */

import { addressOf } from "./address.js";
import { element, shape } from "./elements.js";

const LINE = 26;
const MARGIN = 18;
const LETTER = 9;
const COLOURS = 10;

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

  /** @param {{word: string, relation: string, probability: number}[]} matches */
  constructor(word, matches) {
    this.#word = word;
    // Grouped by relation.
    this.#matches = Object.values(Object.groupBy(matches, (match) => match.relation)).flat();
    this.element = shape("svg", { class: "graph text", "aria-hidden": "true" });
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
    const edges = nodes.map(({ edge }) => edge);
    this.element.replaceChildren(...edges, ...nodes.map(({ link }) => link), ...this.#middle());
  }

  /** On an arch that is widest in the middle; the more probable, the nearer. */
  #node({ word, relation, probability }, side, index, count, width) {
    const y = (index - (count - 1) / 2) * LINE;
    const arch = Math.sqrt(1 - ((2 * y) / ((count + 1) * LINE)) ** 2);
    const near = Math.abs(y) < LINE ? this.#middleWidth() / 2 + 10 : 24;
    const letters = Math.floor((width / 2 - near - MARGIN) / LETTER);
    const room = width / 2 - MARGIN - LETTER * Math.min(word.length, letters);
    const wished = width * (0.2 + 0.16 * (1 - probability)) * (0.6 + 0.4 * arch);
    const x = side * Math.max(near, Math.min(room, wished));
    const colour = colourOf(relation);
    const edge = shape("path", {
      class: `edge ${colour}`,
      d: `M0 0Q${(x / 2).toFixed(1)} ${y.toFixed(1)} ${x.toFixed(1)} ${y.toFixed(1)}`,
      "stroke-width": (1 + 2 * probability).toFixed(2),
    });
    const attributes = { x: x + 9 * side, y, "text-anchor": side < 0 ? "end" : "start" };
    const name = shape("text", { ...attributes, dy: "0.35em" }, shortened(word, letters));
    const title = shape("title", {}, `${word}: ${relation}, ${probability.toFixed(2)}`);
    const knot = shape("circle", { class: colour, cx: x, cy: y, r: 4.5 });
    const href = addressOf("word", { word });
    return { edge, link: shape("a", { href, tabindex: -1 }, title, knot, name) };
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
