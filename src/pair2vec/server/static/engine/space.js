/** The pair space of an opened model: its networks R and C, its words, and how pairs are compared. */

import { PatternEncoder } from "./context_encoder.js";
import { Kernels } from "./kernels.js";
import { Layer, openPairNetwork } from "./pair_encoder.js";
import { SPECIAL, Vocabulary } from "./vocabulary.js";

const FREQUENT_WORDS = 20_000;
const CONTENT = 0;

/** Whether one of two words or phrases is a part of the other: *haydn* and *joseph haydn*. */
export function sharesWords(one, other) {
  if (!one.includes(" ") && !other.includes(" ")) return one === other;
  const [first, second] = [` ${one} `, ` ${other} `];
  return first.includes(second) || second.includes(first);
}

export class PairSpace {
  /**
   * @param {import("./model.js").ModelFiles} files
   * @param tokeniser Of queries.
   */
  constructor({ tensors, derived, vocabulary, config, engine }, tokeniser) {
    const kernels = (this.kernels = new Kernels());
    this.vocabulary = new Vocabulary(vocabulary, tensors.stored("counts"), tokeniser);
    this.pairs = openPairNetwork(kernels, tensors, config.recipe.pair);
    /** R as pairs are compared with it, before normalisation. */
    this.whitenedPairs = derived.has("whitening.weight")
      ? this.pairs.followedBy(new Layer(kernels, derived.array("whitening.weight"), derived.array("whitening.bias")))
      : this.pairs;
    /** What each word is, by its spelling: 0 is a word of content. */
    this.kinds = derived.stored("words.kinds");
    const sentences = config.corpus?.sentences ?? 0;
    const options = { openWords: engine.constants.OPEN_WORDS, sentences };
    const similar = (word, end) => this.#similarWord(word, end);
    this.patternEncoder = new PatternEncoder(kernels, tensors, this.vocabulary, { ...options, similar });
  }

  /**
   * Whether a word is no answer to a question: special tokens, those of the question, and what is
   * of no kind of these and no word of content.
   *
   * @param {number[]} query The ids of the question's words.
   * @param {boolean} allWords Whether words of all kinds may be answers.
   * @returns {(id: number) => boolean}
   */
  noAnswers(query, allWords) {
    const allowed = new Set([CONTENT, ...query.map((id) => this.kinds[id])]);
    return (id) => id < SPECIAL || query.includes(id) || !(allWords || allowed.has(this.kinds[id]));
  }

  /** Whether a word shares a word with a question where one of the two is a phrase. */
  overlapping(query) {
    const { words } = this.vocabulary;
    const asked = query.map((id) => words[id]);
    return (id) => asked.some((word) => sharesWords(word, words[id]));
  }

  /** The word with the most similar vector among those with ids below `end`. */
  #similarWord(word, end) {
    const own = this.unitWord(word);
    let [found, most] = [SPECIAL, -Infinity];
    for (let id = SPECIAL; id < end; id += 1) {
      const cosine = this.pairs.unitDot(id, own);
      if (cosine > most) [found, most] = [id, cosine];
    }
    return found;
  }

  /** How many of the words are frequent: what is fast looks at these alone. */
  get frequentWords() {
    return Math.min(FREQUENT_WORDS, this.pairs.words);
  }

  /** The word's vector of unit norm. */
  unitWord(id) {
    return this.kernels.scope(() => this.pairs.unitInputs([id]).row(0).slice());
  }
}
