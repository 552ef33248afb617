/** Fill: the words for one slot of a pattern, from the word in the other. */

import { addressOf } from "../address.js";
import { element } from "../elements.js";
import { withWords } from "../pattern.js";
import { rankedList } from "../results.js";

/** @type {import("../panel.js").PanelSpec} */
export const fill = {
  name: "fill",
  examples: [
    { pattern: "in X , Y .", x: "portland" },
    { pattern: "X , a famous Y ,", x: "monet" },
    { pattern: "from X to Y .", x: "dallas" },
    { pattern: "either X or Y", x: "accept" },
    { pattern: "X such as Y ,", y: "iron" },
  ],
  hint: "Type a pattern with an X and a Y, and a word for one of them.",
  isComplete: ({ pattern, x, y }) => Boolean(pattern && (x || y)),
  label: ({ pattern, x, y }) => withWords(pattern, { x, y }),
  toState: ({ pattern, slot, word }) => ({ pattern, [slot]: word }),
  toFields: ({ pattern = "", x, y = "" }) =>
    x ? { pattern, slot: "x", word: x } : { pattern, slot: y ? "y" : "x", word: y },
  answer,
};

async function answer({ pattern, x, y }, get, results) {
  const { matches, asked } = await get("fill", x ? { pattern, x } : { pattern, y });
  const pairs = matches.map(({ word, score }) => ({ x: x ?? word, y: y ?? word, word, score }));
  const rows = pairs.map((pair) => ({
    href: addressOf("pair", { x: pair.x, y: pair.y }),
    title: `How ${pair.x} and ${pair.y} are related`,
    content: [pair.word],
    score: pair.score,
  }));
  const best = element("p", { class: "sentence text" }, ...withWords(pattern, pairs[0]));
  const note = asked ? ["Asked as: ", ...withWords(asked.pattern, asked)] : [];
  results.replaceChildren(best, ...note, rankedList(rows, "Words that fit, the best first"));
  return `${matches.length} words, best: ${matches[0].word}`;
}
