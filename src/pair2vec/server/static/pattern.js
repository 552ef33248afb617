/** Patterns with words in their slots. */

import { element } from "./elements.js";

const SLOTS = /(?<![\p{L}\p{N}])([XY])(?![\p{L}\p{N}])/u;
const EDGE = /(<s>)/;

/** A word in a slot's colour. */
export function inSlot(slot, word) {
  return element("b", { class: slot.toLowerCase() }, word);
}

/** A pattern with words in place of X and Y; a slot without a word stays. */
export function withWords(pattern, { x = "X", y = "Y" } = {}) {
  return pattern.split(SLOTS).flatMap((piece, index) => {
    if (index % 2) return inSlot(piece, piece === "X" ? x : y);
    return piece.split(EDGE).map((text) => (text === "<s>" ? edge() : detokenise(text)));
  });
}

/** The same without colours. */
export function asText(parts) {
  return element("span", {}, ...parts).textContent;
}

/** Detokenised: without the spaces before punctuation. */
function detokenise(text) {
  return text.replace(/ (?=[,.;:!?)]|'s)/g, "").replace(/\( /g, "(");
}

function edge() {
  return element("abbr", { title: "where a sentence begins or ends" }, "¦");
}

/** A regular expression for words and phrases that stand alone; a phrase goes before its words. */
export function wholeWords(...words) {
  const escaped = words.toSorted((a, b) => b.length - a.length).map((word) => word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/'/g, "['’]"));
  return new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu");
}
