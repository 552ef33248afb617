/** Analogy: the words that are to x as b is to a. */

import { addressOf } from "../address.js";
import { arrowsLink, rankedList } from "../results.js";

const USUAL_ALPHA = "0.5";

/** @type {import("../panel.js").PanelSpec} */
export const analogy = {
  name: "analogy",
  examples: [
    { a: "france", b: "paris", x: "japan" },
    { a: "man", b: "woman", x: "king" },
    { a: "walk", b: "walked", x: "run" },
    { a: "good", b: "bad", x: "hot" },
  ],
  hint: "Type three words: two that are related, and one to find the partner of.",
  isComplete: ({ a, b, x }) => Boolean(a && b && x),
  label: ({ a, b, x }) => [`${a} : ${b} = ${x} : ?`],
  toState: ({ a, b, x, alpha }) => ({ a, b, x, alpha: alpha === USUAL_ALPHA ? "" : alpha }),
  toFields: ({ a = "", b = "", x = "", alpha = USUAL_ALPHA }) => ({ a, b, x, alpha }),
  answer,
};

async function answer(state, get, results) {
  const { matches } = await get("analogy", state);
  const rows = matches.map(({ word, score }) => ({
    href: addressOf("pair", { x: state.x, y: word }),
    title: `How ${state.x} and ${word} are related`,
    content: [word],
    score,
  }));
  const label = `Words that are to ${state.x} as ${state.b} is to ${state.a}`;
  const { a, b, x } = state;
  const pairs = [{ x: a, y: b }, { x, y: matches[0].word }];
  results.replaceChildren(rankedList(rows, label), arrowsLink(pairs));
  return `${matches.length} words, best: ${matches[0].word}`;
}
