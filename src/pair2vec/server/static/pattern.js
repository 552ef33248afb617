/** Patterns as people read them: with words in their slots. */

import { element } from "./elements.js";

const SLOTS = /(?<![\p{L}\p{N}])([XY])(?![\p{L}\p{N}])/u;
const EDGE = /(<s>)/;

/** A word in a slot's colour. */
export function inSlot(slot, word) {
  return element("b", { class: slot.toLowerCase() }, word);
}

/** A pattern with words in place of X and Y; what has none stays as it is. */
export function withWords(pattern, { x = "X", y = "Y" } = {}) {
  return pattern.split(SLOTS).flatMap((piece, place) => {
    if (place % 2) return inSlot(piece, piece === "X" ? x : y);
    return piece.split(EDGE).map((text) => (text === "<s>" ? edge() : spaced(text)));
  });
}

/** The same without colours. */
export function asText(parts) {
  return element("span", {}, ...parts).textContent;
}

/** The text as it is written, not as the model reads it, with a space before every mark. */
function spaced(text) {
  return text.replace(/ (?=[,.;:!?)]|'s)/g, "").replace(/\( /g, "(");
}

function edge() {
  return element("abbr", { title: "where a sentence begins or ends" }, "¦");
}
