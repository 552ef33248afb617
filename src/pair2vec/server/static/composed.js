/** Words that are not in the vocabulary, and were answered for all the same. */

import { button, element } from "./elements.js";

const SOURCES = {
  spelling: "composed from its spelling",
  words: "composed from its words",
  vectors: "carried over from other vectors",
};

/**
 * A way to ask that remembers which words were composed, and notes about these.
 *
 * @param {import("./requests.js").Get} get
 * @param {(word: string, by: string) => void} replace
 */
export function notingComposed(get, replace) {
  const composed = new Map();
  const getAndNote = async (...question) => {
    const found = await get(...question);
    for (const word of found.composed ?? []) composed.set(word.word, word);
    return found;
  };
  return { getAndNote, notes: () => [...composed.values()].map((word) => note(word, replace)) };
}

/** That a word is not known, how it was composed, and known words to take instead. */
function note({ word, source, suggestions }, replace) {
  const alike = suggestions.map((by) => button(by, () => replace(word, by)));
  const hint = alike.length ? ["; did you mean ", ...alike, "?"] : ["."];
  const said = `“${word}” is not in the vocabulary: its vector is ${SOURCES[source]}`;
  return element("p", { class: "message composed" }, said, ...hint);
}
