/** Pair: what fits two words, in both directions; pairs like them; where the text has them. */

import { addressOf } from "../address.js";
import { Unanswered, offers } from "../api.js";
import { element } from "../elements.js";
import { asText, inSlot, withWords } from "../pattern.js";
import { part, rankedList } from "../results.js";

const PATTERNS = 6;

/** @type {import("../panel.js").Kind} */
export const pair = {
  name: "pair",
  examples: [
    { x: "hot", y: "cold" },
    { x: "king", y: "queen" },
    { x: "france", y: "paris" },
    { x: "monet", y: "painter" },
  ],
  hint: "Type two words.",
  isComplete: ({ x, y }) => Boolean(x && y),
  label: ({ x, y }) => [`${x} / ${y}`],
  toState: ({ x, y }) => ({ x, y }),
  toFields: ({ x = "", y = "" }) => ({ x, y }),
  answer,
};

/** What is quickly found is shown at once, and tells whether the words are known. */
async function answer({ x, y }, get, results) {
  const places = ["patterns", "pairs", "sentences"].map((name) => element("div", { class: name }));
  const [patterns, pairs, sentences] = places;
  const found = await get("pair", { x, y, top: PATTERNS });
  results.replaceChildren(...places);
  patterns.append(...bothDirections(found));
  const [nearest] = await Promise.all([
    get("nearest", { x, y }),
    showEvidence({ x, y }, get, sentences),
    showWays({ x, y }, sentences),
  ]);
  pairs.append(...alike(nearest));
  const best = found.forward.patterns[0];
  const other = nearest.matches[0];
  return [
    best ? `Best pattern: “${asText(withWords(best.pattern, { x, y }))}”` : `${x} and ${y}`,
    other ? `nearest pair: ${other.x} and ${other.y}` : "no pair is near",
  ].join("; ");
}

function bothDirections({ forward, backward }) {
  const scores = [forward, backward].flatMap((side) => side.patterns.map((one) => one.score));
  return [forward, backward].map(({ x, y, patterns }) => {
    const heading = [inSlot("X", x), " then ", inSlot("Y", y)];
    if (!patterns.length) return part(heading, element("p", {}, "This model has no patterns."));
    const rows = patterns.map(({ pattern, score }) => ({
      href: addressOf("fill", { pattern, x }),
      title: `Other words for Y in “${pattern}” with ${x}`,
      content: withWords(pattern, { x, y }),
      score,
    }));
    return part(heading, rankedList(rows, `Patterns of ${x} and ${y}`, scores));
  });
}

function alike({ matches }) {
  if (!matches.length) return [];
  const rows = matches.map(({ x, y, score }) => ({
    href: addressOf("pair", { x, y }),
    title: `How ${x} and ${y} are related`,
    content: [inSlot("X", x), " : ", inSlot("Y", y)],
    score,
  }));
  return [part("Pairs in the same relation", rankedList(rows, "Pairs in the same relation"))];
}

async function showEvidence({ x, y }, get, place) {
  if (!(await offers("evidence"))) return;
  const { sentences } = await get("evidence", { x, y }).catch(none);
  const quotes = sentences.map((sentence) =>
    element("blockquote", { class: "text" }, ...marked(sentence, { x, y })),
  );
  const lack = element("p", {}, "No sentence of the corpus tells of both.");
  place.prepend(part("In the text", ...(quotes.length ? quotes : [lack])));
}

/** The corpus may lack a word that the model knows; the rest of the answer stands. */
function none(error) {
  if (error instanceof Unanswered) return { sentences: [] };
  throw error;
}

/** A sentence with both words in their colours. */
function marked(sentence, { x, y }) {
  return sentence.split(/([\p{L}\p{N}_-]+)/u).map((piece) => {
    const word = piece.toLowerCase();
    if (word === x.toLowerCase()) return inSlot("X", piece);
    return word === y.toLowerCase() ? inSlot("Y", piece) : piece;
  });
}

/** On to the words by themselves, where the server knows their neighbours. */
async function showWays({ x, y }, place) {
  if (!(await offers("neighbours"))) return;
  const links = [x, y].map((word) =>
    element("a", { class: "chip text", href: addressOf("word", { word }) }, word),
  );
  place.append(element("p", { class: "examples" }, "Words related to", ...links));
}
