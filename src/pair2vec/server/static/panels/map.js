/**
 * Map: a word in the middle and those related to it around it, to walk from one to the next; with a
 * corpus, the sentences that an arrow is drawn from.
 */

import { addressOf } from "../address.js";
import { offers } from "../api.js";
import { element } from "../elements.js";
import { sentencesWith } from "../evidence.js";
import { Graph, dot } from "../graph.js";
import { keepRows } from "../results.js";

const ASKED = 60;
const MAX_WORDS = 16;
const MAX_TRAIL = 8;

/** @type {import("../panel.js").PanelSpec} */
export const map = {
  name: "map",
  examples: [{ word: "river" }, { word: "guitar" }, { word: "cheap" }, { word: "oak" }],
  hint: "Type a word.",
  isComplete: ({ word }) => Boolean(word),
  label: ({ word }) => [word],
  toState: ({ word, trail }) => ({ word, trail }),
  toFields: ({ word = "", trail = "" }) => ({ word, trail }),
  answer,
};

async function answer({ word, trail = "" }, get, results) {
  const matches = ofEachRelation((await get("neighbours", { word, top: ASKED })).matches);
  const walked = trail.split(" ").filter(Boolean);
  const next = [...walked, word].slice(-MAX_TRAIL).join(" ");
  const hrefOf = (other) => addressOf("map", { word: other, trail: next });
  const graph = new Graph(word, matches, { hrefOf, isMap: true });
  keepRows(graph.element, matches.map((match) => [match.relation, match.word, match.probability]));
  const relations = [...new Set(matches.map((match) => match.relation))];
  results.replaceChildren(...way(walked, word), graph.element, legend(relations), onwards(word));
  graph.draw();
  // Who walks by keys goes on from the map.
  if (walked.length && document.activeElement === results.closest("[role=tabpanel]")) graph.focus();
  if (matches.length && (await offers("evidence"))) {
    const { list, shown } = sentencesOfArrows(word, matches, graph, get);
    results.querySelector(".legend").after(list);
    await shown;
  }
  return matches.length ? `${word}: ${matches.length} words around it` : `${word} is related to no other word`;
}

/** Of each relation the best, then the second of each: a river has more names than relations. */
function ofEachRelation(matches) {
  const ranks = new Map();
  const ranked = matches.map((match) => {
    const rank = ranks.get(match.relation) ?? 0;
    ranks.set(match.relation, rank + 1);
    return { match, rank };
  });
  return ranked.sort((one, other) => one.rank - other.rank).slice(0, MAX_WORDS).map(({ match }) => match);
}

/** The words that led here, as links back to each. */
function way(walked, word) {
  if (!walked.length) return [];
  const links = walked.flatMap((one, n) => {
    const href = addressOf("map", { word: one, trail: walked.slice(0, n).join(" ") });
    return [element("a", { class: "chip text", href }, one), "→"];
  });
  return [element("p", { class: "examples" }, ...links, element("b", { class: "text" }, word))];
}

/** Colours of the arrows: each leads to the kind, the whole, the place; both ways between opposites. */
function legend(relations) {
  const entries = relations.map((relation) => element("span", { class: "whole-word" }, dot(relation), relation));
  return element("p", { class: "examples legend" }, ...entries);
}

/** A list of the words around one, and the sentences with the one that is chosen there or by its arrow. */
function sentencesOfArrows(word, matches, graph, get) {
  const options = matches.map((match) => element("option", { value: match.word }, `${match.word} (${match.relation})`));
  const choice = element("select", { class: "text" }, ...options);
  const sentences = element("div", { "aria-live": "polite" });
  const show = async (other) => {
    choice.value = other;
    graph.choose(other);
    const found = await sentencesWith({ x: word, y: other }, get);
    if (choice.value === other) sentences.replaceChildren(...found); // another may be chosen meanwhile
  };
  const showLater = (other) => show(other).catch(ignoreAbort);
  choice.addEventListener("change", () => showLater(choice.value));
  graph.onArrow(showLater);
  const label = element("label", { class: "choice" }, `Sentences with ${word} and `, choice);
  return { list: element("section", { class: "part sentences" }, label, sentences), shown: show(matches[0].word) };
}

/** Of a map that is left. */
function ignoreAbort(error) {
  if (error.name !== "AbortError") throw error;
}

function onwards(word) {
  const href = addressOf("word", { word });
  return element("p", {}, element("a", { href }, `All words related to ${word}, as a list`));
}
