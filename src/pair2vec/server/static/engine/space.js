/** The pair space of an opened model: its networks R and C, its words, and how pairs are compared. */

import { WordComposer } from "./composition.js";
import { PatternEncoder } from "./context_encoder.js";
import { Kernels } from "./kernels.js";
import { Layer, openPairNetwork } from "./pair_encoder.js";
import { SubwordTable } from "./spelling.js";
import { SPECIAL, Vocabulary } from "./vocabulary.js";

const FREQUENT_WORDS = 20_000;
const CONTENT = 0;
/** Composed words that are kept from one question to the next. */
const MOST_COMPOSED = 1_000;

/** Whether one of two words or phrases is a part of the other: *haydn* and *joseph haydn*. */
export function sharesWords(one, other) {
  if (!one.includes(" ") && !other.includes(" ")) return one === other;
  const [first, second] = [` ${one} `, ` ${other} `];
  return first.includes(second) || second.includes(first);
}

export class PairSpace {
  #composer = null;
  #composed = new Map();
  #beyond = []; // their spellings, by id

  /**
   * @param {import("./model.js").ModelFiles} files
   * @param tokeniser Of queries.
   */
  constructor({ tensors, derived, vocabulary, config, engine }, tokeniser) {
    const kernels = (this.kernels = new Kernels());
    this.vocabulary = new Vocabulary(vocabulary, tensors.stored("counts"), tokeniser);
    this.pairs = openPairNetwork(kernels, tensors, config.recipe.pair);
    /** What whitens R; null where it is compared as it is. */
    this.whitening = derived.has("whitening.weight") ? Layer.derived(kernels, derived, "whitening") : null;
    /** R as pairs are compared with it, before normalisation. */
    this.whitenedPairs = this.whitening ? this.pairs.followedBy(this.whitening) : this.pairs;
    /** What each word is, by its spelling: 0 is a word of content. */
    this.kinds = derived.stored("words.kinds");
    const sentences = config.corpus?.sentences ?? 0;
    const options = { openWords: engine.constants.OPEN_WORDS, sentences };
    const similar = (word, end) => this.#similarWord(word, end);
    this.patternEncoder = new PatternEncoder(kernels, tensors, this.vocabulary, { ...options, similar });
    if (!config.subwords || !tensors.has("subword.buckets")) return;
    const table = new SubwordTable(tensors, config.subwords);
    const vectors = (ids) => this.unitWords(ids);
    this.#composer = new WordComposer(this.vocabulary, vectors, table, engine.constants.composition);
  }

  /** The id of a typed word; of an unknown one, that of the vector composed for it. */
  lookUp(text) {
    const { vocabulary } = this;
    const tokens = vocabulary.tokeniser.tokens(text);
    const known = vocabulary.find(tokens) ?? this.#composedId(tokens);
    return known ?? vocabulary.lookUp(text);
  }

  /** Of typed words those that were composed, each once. */
  composed(texts) {
    const words = texts.map((text) => this.vocabulary.tokeniser.tokens(text).join(" "));
    return [...new Set(words)].flatMap((word) => this.#composed.get(word)?.said ?? []);
  }

  /** A word by its id, also a composed one. */
  spelled(id) {
    const { words, size } = this.vocabulary;
    return id < size ? words[id] : this.#beyond[id - size];
  }

  /** To be called between questions, as it takes ids back. */
  forgetComposed() {
    if (this.#composed.size <= MOST_COMPOSED) return;
    this.#composed.clear();
    this.#beyond.length = this.pairs.rows.added.length = 0;
  }

  /** The id of a word that can be composed, beyond those of the vocabulary. */
  #composedId(tokens) {
    const word = tokens.join(" ");
    if (!this.#composed.has(word)) {
      const found = this.#composer?.compose(tokens);
      if (!found) return undefined;
      const norm = this.#inputNorm;
      const id = this.vocabulary.size + this.#beyond.push(word) - 1;
      this.pairs.rows.added.push(found.vector.map((value) => norm * value));
      this.#composed.set(word, { id, said: found.said });
    }
    return this.#composed.get(word).id;
  }

  /** The usual norm of what R composes. */
  get #inputNorm() {
    const { rows, hasUnitInputs } = this.pairs;
    const norms = rows.norms.subarray(0, this.frequentWords);
    return hasUnitInputs ? 1 : norms.reduce((sum, norm) => sum + norm) / norms.length;
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
    const asked = query.filter((id) => id < words.length).map((id) => words[id]);
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
    return this.unitWords([id])[0];
  }

  unitWords(ids) {
    return this.kernels.scope(() => {
      const vectors = this.pairs.unitInputs(ids);
      return Array.from(ids, (_, n) => vectors.row(n).slice());
    });
  }
}
