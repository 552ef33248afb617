/** Two sentences: whether they say opposite things, how probable that is, the words that decide. */

import { addressOf } from "../address.js";
import { element } from "../elements.js";
import { inSlot, wholeWords } from "../pattern.js";
import { rankedList } from "../results.js";

const MEANINGS = {
  same: "they say the same",
  opposed: "they say opposite things",
  different: "they say different things",
  unsure: "nothing certain can be said",
};

/** @type {import("../panel.js").PanelSpec} */
export const opposed = {
  name: "opposed",
  examples: [
    { a: "They arrive before noon.", b: "They arrive after noon." },
    { a: "Turn the lights on.", b: "Turn the lights off." },
    { a: "The food is cheap.", b: "The food is not expensive." },
  ],
  hint: "Type two sentences.",
  isComplete: ({ a, b }) => Boolean(a && b),
  label: ({ a, b }) => [`${a} / ${b}`],
  toState: ({ a, b }) => ({ a, b }),
  toFields: ({ a = "", b = "" }) => ({ a, b }),
  answer,
};

async function answer({ a, b }, get, results) {
  const { verdict, probability, differences, reason } = await get("opposed", { a, b });
  const percent = verdict === "unsure" ? "" : `, ${(100 * probability).toFixed(0)} %`;
  results.replaceChildren(
    element("p", { class: "sentence text" }, element("strong", {}, verdict), `: ${MEANINGS[verdict]}${percent}`),
    marked("X", a, differences.map((one) => one.a)),
    marked("Y", b, differences.map((one) => one.b)),
    ...(differences.length ? [rankedList(differences.map(row), "What differs", [0, 1])] : []),
  );
  return `${verdict}: ${reason}`;
}

/** A sentence with words in its colour. */
function marked(slot, sentence, words) {
  const some = words.filter(Boolean);
  const pieces = some.length ? sentence.split(wholeWords(...some)) : [sentence];
  const parts = pieces.map((piece, index) => (index % 2 ? inSlot(slot, piece) : piece));
  return element("blockquote", { class: "text" }, ...parts);
}

/** Two words lead on to their relation, a single one to those related to it. */
function row({ kind, a, b, probability }) {
  const rest = [" ", element("small", {}, kind)];
  const score = probability;
  if (a && b) {
    const content = [inSlot("X", a), " / ", inSlot("Y", b), ...rest];
    return { href: addressOf("relate", { x: a, y: b }), title: `How ${a} and ${b} are related`, content, score };
  }
  const word = a || b;
  const content = [inSlot(a ? "X" : "Y", word), ...rest];
  return { href: addressOf("word", { word }), title: `Words related to ${word}`, content, score };
}
