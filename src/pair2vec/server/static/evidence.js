/** Sentences of the corpus, where the server has one. */

import { ApiError } from "./api.js";
import { element } from "./elements.js";
import { inSlot, wholeWords } from "./pattern.js";

/** Those with both words, or that there are none. */
export async function sentencesWith({ x, y }, get) {
  const { sentences } = await get("evidence", { x, y }).catch(noSentences);
  if (!sentences.length) return [element("p", {}, "No sentence of the corpus has both words.")];
  return sentences.map((sentence) => element("blockquote", { class: "text" }, ...marked(sentence, { x, y })));
}

/** The corpus may lack a word that the model knows; the other results stay. */
function noSentences(error) {
  if (error instanceof ApiError) return { sentences: [] };
  throw error;
}

/** A sentence with both words in their colours. */
function marked(sentence, { x, y }) {
  return sentence.split(wholeWords(x, y)).map((piece) => {
    const word = piece.toLowerCase();
    if (word === x.toLowerCase()) return inSlot("X", piece);
    return word === y.toLowerCase() ? inSlot("Y", piece) : piece;
  });
}
