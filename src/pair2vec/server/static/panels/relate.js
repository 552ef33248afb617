/** Relate: the relation of two words, how probable it is, pairs like them and their patterns. */

import { addressOf } from "../address.js";
import { element } from "../elements.js";
import { dot } from "../graph.js";
import { inSlot, withWords } from "../pattern.js";
import { part, rankedList, similarPairs } from "../results.js";

const LEAST_SHOWN = 0.005;

/** @type {import("../panel.js").PanelSpec} */
export const relate = {
  name: "relate",
  examples: [
    { x: "cheap", y: "expensive" },
    { x: "wheel", y: "car" },
    { x: "lisbon", y: "portugal" },
    { x: "mozart", y: "composer" },
    { x: "buy", y: "purchase" },
  ],
  hint: "Type two words.",
  isComplete: ({ x, y }) => Boolean(x && y),
  label: ({ x, y }) => [`${x} / ${y}`],
  toState: ({ x, y }) => ({ x, y }),
  toFields: ({ x = "", y = "" }) => ({ x, y }),
  answer,
};

async function answer(words, get, results) {
  const found = await get("relate", words);
  results.replaceChildren(
    inWords(found, words),
    probabilities(found, words),
    element("div", { class: "pairs" }, ...similarPairs(found.like, "relate")),
    ...patternList(found.patterns, words),
  );
  return `${words.x} and ${words.y}: ${found.relation}, ${(100 * found.probability).toFixed(0)} %`;
}

/** The relation and its definition, with the words in place of x and y. */
function inWords({ relation, definition }, words) {
  const pieces = definition.split(/\b([xy])\b/);
  const said = pieces.map((piece, index) => (index % 2 ? inSlot(piece.toUpperCase(), words[piece]) : piece));
  const name = element("strong", {}, relation);
  return element("p", { class: "sentence text" }, name, ...(definition ? [": ", ...said] : []));
}

/** The relation and its runners-up; where it is unclear, the most probable is among these. */
function probabilities({ relation, probability, others }, words) {
  const all = relation === "unclear" ? others : [{ relation, probability }, ...others];
  const rows = all
    .filter((one, index) => index === 0 || one.probability >= LEAST_SHOWN)
    .map((one) => ({ ...next(one.relation, words), content: named(one.relation), score: one.probability }));
  return rankedList(rows, `The relation of ${words.x} and ${words.y}, the most probable first`, [0, 1]);
}

/** Where a relation leads on to: other words in it; without one, all that fits the pair. */
function next(relation, { x, y }) {
  if (relation === "none") {
    return { href: addressOf("pair", { x, y }), title: `Patterns of ${x} and ${y}` };
  }
  const href = addressOf("word", { word: x, relation });
  return { href, title: `Words related to ${x}: ${relation}` };
}

function named(relation) {
  return relation === "none" ? [relation] : [element("span", { class: "whole-word" }, dot(relation), relation)];
}

function patternList(matches, { x, y }) {
  if (!matches.length) return [];
  const rows = matches.map(({ pattern, score }) => ({
    href: addressOf("fill", { pattern, x }),
    title: `Other words for Y in “${pattern}” with ${x}`,
    content: withWords(pattern, { x, y }),
    score,
  }));
  const list = rankedList(rows, `Patterns of ${x} and ${y}`);
  return [element("div", { class: "patterns" }, part("Patterns that fit them", list))];
}
