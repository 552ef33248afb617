/** Word: the words related to one, as a graph and as a list. */

import { addressOf } from "../address.js";
import { element } from "../elements.js";
import { Graph, dot } from "../graph.js";
import { rankedList } from "../results.js";

const MAX_WORDS = 24;

/** @type {import("../panel.js").PanelSpec} */
export const word = {
  name: "word",
  examples: [{ word: "oak" }, { word: "violin" }, { word: "monet" }, { word: "hot" }],
  hint: "Type a word.",
  isComplete: ({ word }) => Boolean(word),
  label: ({ word }) => [word],
  toState: ({ word, relation }) => ({ word, relation }),
  toFields: ({ word = "", relation = "" }) => ({ word, relation }),
  answer,
};

async function answer({ word, relation = "" }, get, results) {
  const parameters = relation ? { word, relation } : { word };
  const { matches } = await get("neighbours", { ...parameters, top: MAX_WORDS });
  if (!matches.length) {
    results.replaceChildren(legend(word, relation ? [relation] : [], relation));
    return relation ? `no ${relation} of ${word} is known` : `${word} is related to no other word`;
  }
  const relations = [...new Set(matches.map((match) => match.relation))];
  const graph = new Graph(word, matches);
  results.replaceChildren(legend(word, relations, relation), graph.element, list(word, matches));
  graph.draw();
  const [best] = matches;
  return `${matches.length} words, most probable: ${best.word} (${best.relation})`;
}

/** The colours, as links to one relation each; and to all of them. */
function legend(word, relations, chosen) {
  const entries = relations.map((relation) => {
    const href = addressOf("word", { word, relation });
    return element("a", { class: "chip", href }, dot(relation), relation);
  });
  const all = element("a", { class: "chip", href: addressOf("word", { word }) }, "all relations");
  return element("p", { class: "examples legend" }, ...entries, ...(chosen ? [all] : []));
}

function list(word, matches) {
  const rows = matches.map((match) => ({
    href: addressOf("pair", { x: word, y: match.word }),
    title: `How ${word} and ${match.word} are related`,
    content: [named(match), " ", element("small", {}, match.relation)],
    score: match.probability,
    beside: onwards(match.word),
  }));
  return rankedList(rows, `Words related to ${word}, the most probable first`, [0, 1]);
}

function named({ word, relation }) {
  return element("span", { class: "whole-word" }, dot(relation), word);
}

function onwards(word) {
  const name = `Words related to ${word}`;
  const href = addressOf("word", { word });
  return element("a", { class: "onwards", href, title: name, "aria-label": name }, "→");
}
