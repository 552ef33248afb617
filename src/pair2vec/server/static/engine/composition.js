/**
 * Vectors of words that are not in the vocabulary, composed from their spelling: by affix rules,
 * words of similar spelling and the table of n-grams; a phrase is the mean of its words
 * (`query/composition.py`).
 *
 * The indices are made when the first unknown word needs them.
 */

import { SpellingIndex, weightedSum } from "./spelling.js";
import { dot, normalise } from "./tensors.js";
import { SPECIAL } from "./vocabulary.js";

const LETTER = /\p{L}/u;

/** @typedef {{word: string, source: "spelling" | "words", suggestions: string[]}} ComposedWord */

export class WordComposer {
  #indices = null;

  /**
   * @param vocabulary The known words.
   * @param {(ids: number[]) => Float32Array[]} vectors Their vectors of unit norm.
   * @param {SubwordTable} table The model's n-grams.
   * @param constants Of `engine.json`.
   */
  constructor(vocabulary, vectors, table, constants) {
    Object.assign(this, { vocabulary, vectors, table, constants });
  }

  /**
   * The vector of an unknown word, or of a phrase of several; null if there is none.
   *
   * @param {string[]} tokens
   * @returns {{said: ComposedWord, vector: Float32Array} | null}
   */
  compose(tokens) {
    const word = tokens.join(" ");
    const { length } = [...word];
    if (length <= 1 || length >= this.constants.LONGEST_WORD || !LETTER.test(word)) return null;
    return tokens.length === 1 ? this.#fromSpelling(word) : this.#fromWords(tokens);
  }

  /** The mean of a phrase's words, the rarer ones counting more. */
  #fromWords(tokens) {
    const { ids: known, shares } = this.vocabulary;
    const { MOST_WORDS, USUAL_SHARE } = this.constants;
    const ids = tokens.filter((token) => LETTER.test(token)).map((token) => known.get(token));
    if (ids.length < 2 || ids.length > MOST_WORDS || ids.includes(undefined)) return null;
    const weights = ids.map((id) => USUAL_SHARE / (USUAL_SHARE + shares[id]));
    const vector = normalise(weightedSum(weights, this.vectors(ids)));
    return { said: { word: tokens.join(" "), source: "words", suggestions: [] }, vector };
  }

  #fromSpelling(word) {
    const { vocabulary, vectors, constants } = this;
    const { NEIGHBOURS, SHARPNESS, LEAST_SIMILARITY, SUGGESTIONS, SUGGESTED_SIMILARITY, WEIGHTS } = constants;
    this.#indices ??= {
      spellings: new SpellingIndex(vocabulary.words, constants),
      affixes: new AffixRules(vocabulary, vectors, constants),
    };
    const { spellings, affixes } = this.#indices;
    const { ids, cosines } = spellings.nearest(word, NEIGHBOURS);
    if (!ids.length || cosines[0] < LEAST_SIMILARITY) return null;
    const sharpened = cosines.map((cosine) => cosine ** SHARPNESS);
    const parts = [
      { weight: WEIGHTS.neighbours, estimate: weightedSum(sharpened, vectors(ids)) },
      { weight: WEIGHTS.table, estimate: this.table.vector(word) },
    ];
    for (const { quality, estimate } of affixes.estimates(word)) {
      parts.push({ weight: (WEIGHTS.rules * quality ** 2) / (1 - quality ** 2), estimate });
    }
    const units = parts.map(({ estimate }) => normalise(estimate));
    const vector = normalise(weightedSum(parts.map(({ weight }) => weight), units));
    const near = ids.slice(0, SUGGESTIONS).filter((_, n) => cosines[n] >= SUGGESTED_SIMILARITY);
    const suggestions = near.map((id) => vocabulary.words[id]);
    return { said: { word, source: "spelling", suggestions }, vector };
  }
}

/** Rules that replace one ending, or one beginning, of a word by another. */
class AffixRules {
  #rules = new Map();

  constructor(vocabulary, vectors, constants) {
    Object.assign(this, { vocabulary, vectors, constants });
    const forwards = new SortedWords(vocabulary, (word) => word);
    const backwards = new SortedWords(vocabulary, reversed);
    this.sides = [
      { words: forwards, endings: backwards },
      { words: backwards, endings: forwards },
    ];
  }

  /** The vectors that rules predict, the best rule first, each with its quality. */
  estimates(word) {
    const { TRIED, RULES } = this.constants;
    const found = this.sides.flatMap((side) => {
      const related = this.#related(side, side.words.spelled(word)).slice(0, TRIED);
      return related.map(({ id, old, ending }) => ({ id, rule: this.#rule(side, old, ending) }));
    });
    const best = found.filter(({ rule }) => rule).sort((a, b) => b.rule.quality - a.rule.quality).slice(0, RULES);
    const stems = this.vectors(best.map(({ id }) => id));
    return best.map(({ rule: { quality, offset } }, n) => ({ quality, estimate: plus(stems[n], offset) }));
  }

  /** Known words with the same stem, most frequent first: the id, its ending, the word's. */
  #related({ words }, word) {
    const { LONGEST_AFFIX, SHORTEST_STEM, STEMS } = this.constants;
    const letters = [...word];
    const found = [];
    for (let cut = 0; cut <= Math.min(LONGEST_AFFIX, letters.length - SHORTEST_STEM); cut += 1) {
      const stem = letters.slice(0, letters.length - cut).join("");
      const ending = word.slice(stem.length);
      const near = [];
      for (const { id, text } of words.beginningWith(stem)) {
        const old = text.slice(stem.length);
        const rest = [...old];
        // Words that share more than the stem have been found with a longer one.
        const isFound = Boolean(ending) && rest[0] === letters[letters.length - cut];
        if (rest.length <= LONGEST_AFFIX && text !== word && !isFound) near.push({ id, old, ending });
      }
      found.push(...near.sort((a, b) => a.id - b.id).slice(0, STEMS));
    }
    return found;
  }

  /** What a replaced affix changes; null where known words do not say. */
  #rule(side, old, ending) {
    const key = [this.sides.indexOf(side), old, ending].join("\n");
    if (!this.#rules.has(key)) {
      if (this.#rules.size >= this.constants.RULES_KEPT) this.#rules.clear();
      this.#rules.set(key, this.#findRule(side, old, ending));
    }
    return this.#rules.get(key);
  }

  #findRule(side, old, ending) {
    const { FEWEST_PAIRS, SHRINKAGE, BEST_QUALITY } = this.constants;
    const pairs = this.#pairs(side, old, ending);
    const count = pairs.length;
    if (count < FEWEST_PAIRS) return null;
    const [before, after] = [0, 1].map((n) => this.vectors(pairs.map((pair) => pair[n])));
    const offsets = after.map((vector, n) => vector.map((value, d) => value - before[n][d]));
    const total = weightedSum(offsets.map(() => 1), offsets);
    const cosines = before.map((vector, n) => {
      const others = total.map((value, d) => (value - offsets[n][d]) / (count - 1 + SHRINKAGE));
      return dot(normalise(plus(vector, others)), 0, after[n], 0, vector.length);
    });
    const quality = cosines.reduce((sum, cosine) => sum + cosine) / (count + SHRINKAGE);
    if (quality <= 0) return null;
    return { offset: total.map((value) => value / (count + SHRINKAGE)), quality: Math.min(quality, BEST_QUALITY) };
  }

  /** The ids of known words that differ by two endings, those of frequent words first. */
  #pairs({ words, endings }, old, ending) {
    const { SHORTEST_STEM, LOOKED_AT, PAIRS } = this.constants;
    const isLonger = [...ending].length >= [...old].length;
    const [longer, other] = isLonger ? [ending, old] : [old, ending];
    // Not all that end in s: frequent words have more, and better, to say.
    const ids = endings.idsBeginningWith(reversed(longer)).sort().subarray(0, LOOKED_AT);
    const found = [];
    for (const one of ids) {
      const word = words.spelled(this.vocabulary.words[one]);
      const stem = word.slice(0, word.length - longer.length);
      if ([...stem].length < SHORTEST_STEM) continue;
      const two = this.vocabulary.ids.get(words.spelled(stem + other));
      if (!(two >= SPECIAL)) continue;
      found.push(isLonger ? [two, one] : [one, two]);
      if (found.length === PAIRS) break;
    }
    return found;
  }
}

/** Words in alphabetical order, spelled forwards or backwards. */
class SortedWords {
  #sorted;
  #ids;

  /** @param {(word: string) => string} spelled Its own inverse. */
  constructor({ words, ids }, spelled) {
    this.spelled = spelled;
    this.#sorted = words.slice(SPECIAL).map(spelled).sort();
    this.#ids = Int32Array.from(this.#sorted, (word) => ids.get(spelled(word)));
  }

  *beginningWith(beginning) {
    const [start, end] = this.#range(beginning);
    for (let n = start; n < end; n += 1) yield { id: this.#ids[n], text: this.#sorted[n] };
  }

  idsBeginningWith(beginning) {
    return this.#ids.slice(...this.#range(beginning));
  }

  #range(beginning) {
    // Beyond all of them, as no token holds the last of all code units.
    return [beginning, `${beginning}\uffff`].map((bound) => lowerBound(this.#sorted, bound));
  }
}

/** Where the first of some sorted values is that is not below another. */
function lowerBound(sorted, value) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

const reversed = (word) => [...word].reverse().join("");

const plus = (one, other) => one.map((value, d) => value + other[d]);
