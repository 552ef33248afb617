/** Pair: the patterns of two words in both directions, similar pairs, sentences with both. */

import { addressOf } from "../address.js";
import { offers } from "../api.js";
import { element } from "../elements.js";
import { sentencesWith } from "../evidence.js";
import { asText, inSlot, withWords } from "../pattern.js";
import { arrowsLink, part, rankedList, similarPairs } from "../results.js";

const PATTERNS = 6;

/** @type {import("../panel.js").PanelSpec} */
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

/** Patterns come first: they are fast, and show whether the words are known. */
async function answer({ x, y }, get, results) {
  const sections = ["patterns", "pairs", "sentences"].map((name) => element("div", { class: name }));
  const [patterns, pairs, sentences] = sections;
  const directions = await get("pair", { x, y, top: PATTERNS });
  results.replaceChildren(...sections);
  patterns.append(...bothDirections(directions));
  const [nearest] = await Promise.all([
    get("nearest", { x, y }),
    showEvidence({ x, y }, get, sentences),
    showLinks({ x, y }, sentences),
  ]);
  pairs.append(...similarPairs(nearest.matches, "pair"));
  if (nearest.matches.length) pairs.append(arrowsLink([{ x, y }, ...nearest.matches]));
  const best = directions.forward.patterns?.[0];
  const other = nearest.matches[0];
  return [
    best ? `Best pattern: “${asText(withWords(best.pattern, { x, y }))}”` : `${x} and ${y}`,
    other ? `nearest pair: ${other.x} and ${other.y}` : "no pair is near",
  ].join("; ");
}

function bothDirections({ forward, backward }) {
  const scores = [forward, backward].flatMap((side) => (side.patterns ?? []).map((match) => match.score));
  return [forward, backward].map(({ x, y, patterns }) => {
    const heading = [inSlot("X", x), " then ", inSlot("Y", y)];
    if (!patterns?.length) return part(heading, element("p", {}, "This model has no patterns."));
    const rows = patterns.map(({ pattern, score }) => ({
      href: addressOf("fill", { pattern, x }),
      title: `Other words for Y in “${pattern}” with ${x}`,
      content: withWords(pattern, { x, y }),
      score,
    }));
    return part(heading, rankedList(rows, `Patterns of ${x} and ${y}`, scores));
  });
}

async function showEvidence(words, get, container) {
  const none = element("p", {}, "There is no corpus here to take sentences from.");
  const shown = (await offers("evidence")) ? await sentencesWith(words, get) : [none];
  container.prepend(part("In the text", ...shown));
}

/** Links to the neighbours of each word, where the server has them. */
async function showLinks({ x, y }, container) {
  if (!(await offers("neighbours"))) return;
  const links = [x, y].map((word) =>
    element("a", { class: "chip text", href: addressOf("word", { word }) }, word),
  );
  container.append(element("p", { class: "examples" }, "Words related to", ...links));
}
