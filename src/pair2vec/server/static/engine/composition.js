/**
 * Vectors of words that are not in the vocabulary, composed from their spelling: by affix rules,
 * words of similar spelling and the table of n-grams; a phrase is the mean of its words
 * (`query/composition.py`, `model/subwords.py`).
 *
 * The indices are made when the first unknown word needs them.
 */

import { topK } from "./search.js";
import { dot, normalise } from "./tensors.js";
import { SPECIAL } from "./vocabulary.js";

const LETTER = /\p{L}/u;
const [OFFSET, PRIME] = [2_166_136_261, 16_777_619];

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

/** What gives a word's vector by its hashed n-grams. */
export class SubwordTable {
  /** @param {{shortest: number, longest: number}} lengths Of the n-grams, as the model's config has them. */
  constructor(tensors, { shortest, longest }) {
    Object.assign(this, { shortest, longest, mean: tensors.array("subword.mean") });
    [this.buckets, this.directions] = ["buckets", "directions"].map((part) => tensors.rows(`subword.${part}`));
  }

  /** Of unit norm. */
  vector(word) {
    const { buckets, directions, mean } = this;
    const hashes = ngramHashes(word, this.shortest, this.longest);
    const read = (rows, id) => {
      const row = new Float32Array(rows.columns);
      rows.read(id, row, 0);
      return row;
    };
    const scale = 1 / Math.sqrt(Math.max(hashes.length, 1));
    const sums = new Float32Array(buckets.columns);
    for (const hash of hashes) read(buckets, hash % buckets.length).forEach((value, k) => (sums[k] += value * scale));
    const rows = Array.from(sums, (_, k) => read(directions, k));
    return normalise(weightedSum([1, ...sums], [mean, ...rows]));
  }
}

/** The words of a vocabulary by their n-grams: an inverted index. */
class SpellingIndex {
  #ngrams;
  #squares; // of the rarity of each
  #owners; // of all, behind each other
  #ends;
  #norms;

  constructor(words, { SHORTEST, LONGEST }) {
    Object.assign(this, { size: words.length, shortest: SHORTEST, longest: LONGEST });
    const most = words.reduce((total, word) => total + word.length + 2, 0) * (LONGEST - SHORTEST + 1);
    this.#ngrams = new HashRows(most);
    const [rows, counts, last] = [0, 1, 2].map(() => new Int32Array(most));
    let size = 0;
    const ends = Int32Array.from(words, (word, id) => {
      for (const hash of id < SPECIAL ? [] : ngramHashes(word, SHORTEST, LONGEST)) {
        const row = this.#ngrams.add(hash);
        if (last[row] === id) continue; // each once
        last[row] = id;
        counts[row] += 1;
        rows[size++] = row;
      }
      return size;
    });
    const known = counts.subarray(0, this.#ngrams.size);
    // In the precision of numpy, so that equal cosines are equal here.
    this.#squares = Float32Array.from(known, (count) => Math.fround(Math.log(this.size / count)) ** 2);
    let end = 0;
    const next = known.map((count) => (end += count) - count);
    this.#owners = new Int32Array(size);
    let at = 0;
    this.#norms = Float32Array.from(ends, (last, id) => {
      let squares = 0;
      for (; at < last; at += 1) {
        squares += this.#squares[rows[at]];
        this.#owners[next[rows[at]]++] = id;
      }
      return Math.sqrt(squares);
    });
    this.#ends = next;
  }

  /** The words that are spelled most alike, and their cosines. */
  nearest(word, count) {
    // What no word has is as rare as what one has.
    const unseen = Math.fround(Math.log(this.size)) ** 2;
    const scores = new Float32Array(this.size);
    let total = 0;
    for (const hash of new Uint32Array(new Set(ngramHashes(word, this.shortest, this.longest))).sort()) {
      const row = this.#ngrams.find(hash);
      const square = row < 0 ? unseen : this.#squares[row];
      for (const id of this.#ownersOf(row)) scores[id] += square;
      total += square;
    }
    const norm = Math.fround(Math.sqrt(total));
    const cosines = scores.map((score, id) => (score ? score / Math.fround(this.#norms[id] * norm) : 0));
    const ids = topK(cosines, count).filter((id) => cosines[id] > 0);
    return { ids, cosines: ids.map((id) => cosines[id]) };
  }

  #ownersOf(row) {
    return this.#owners.subarray(this.#ends[row - 1] ?? 0, this.#ends[row] ?? 0);
  }
}

/** Distinct hashes, with numbers from 0 on: an open hash table. */
class HashRows {
  #slots;
  #hashes;
  size = 0;

  /** @param {number} most How many hashes there may be. */
  constructor(most) {
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(most + 1))).fill(-1);
    this.#hashes = new Uint32Array(this.#slots.length);
  }

  /** The number of a hash; -1 if it is not there. */
  find(hash) {
    return this.#slots[this.#slotOf(hash)];
  }

  /** The number of a hash, which is there from then on. */
  add(hash) {
    const slot = this.#slotOf(hash);
    if (this.#slots[slot] < 0) {
      this.#hashes[slot] = hash;
      this.#slots[slot] = this.size++;
    }
    return this.#slots[slot];
  }

  #slotOf(hash) {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] >= 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
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

/** The hashes of all n-grams of `<word>` but itself as a whole: FNV-1a of 32 bits, by code point. */
function ngramHashes(word, shortest, longest) {
  const codes = Array.from(`<${word}>`, (character) => character.codePointAt(0));
  const hashes = [];
  for (let start = 0; start < codes.length; start += 1) {
    let hash = OFFSET;
    const most = Math.min(longest, codes.length - start);
    for (let length = 1; length <= most; length += 1) {
      hash = Math.imul(hash ^ codes[start + length - 1], PRIME) >>> 0;
      if (length >= shortest && length < codes.length) hashes.push(hash);
    }
  }
  return hashes;
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

function weightedSum(weights, vectors) {
  const total = new Float32Array(vectors[0].length);
  weights.forEach((weight, n) => vectors[n].forEach((value, d) => (total[d] += weight * value)));
  return total;
}
