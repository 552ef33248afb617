/**
 * Character n-grams of words, hashed: the table that gives a word's vector by them, and the words of
 * a vocabulary by them (`model/subwords.py`, `SpellingIndex` of `query/composition.py`).
 */

import { topK } from "./search.js";
import { normalise } from "./tensors.js";
import { SPECIAL } from "./vocabulary.js";

const [OFFSET, PRIME] = [2_166_136_261, 16_777_619];

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
export class SpellingIndex {
  #ngrams = new HashRows();
  #squares; // of the rarity of each
  #owners; // of all, behind each other
  #ends;
  #norms;

  constructor(words, { SHORTEST, LONGEST }) {
    Object.assign(this, { size: words.length, shortest: SHORTEST, longest: LONGEST });
    const most = words.reduce((total, word) => total + word.length + 2, 0) * (LONGEST - SHORTEST + 1);
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
    // Where the owners of each begin; and where they end, when all are there.
    this.#ends = known.map((count) => (end += count) - count);
    this.#owners = new Int32Array(size);
    let at = 0;
    this.#norms = Float32Array.from(ends, (stop, id) => {
      let squares = 0;
      for (; at < stop; at += 1) {
        squares += this.#squares[rows[at]];
        this.#owners[this.#ends[rows[at]]++] = id;
      }
      return Math.sqrt(squares);
    });
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

/** Distinct hashes, with numbers from 0 on: an open hash table, at most half full. */
class HashRows {
  #slots = new Int32Array(1 << 12).fill(-1);
  #hashes = new Uint32Array(1 << 11);
  size = 0;

  /** The number of a hash; -1 if it is not there. */
  find(hash) {
    return this.#slots[this.#slotOf(hash)];
  }

  /** The number of a hash, which is there from then on. */
  add(hash) {
    const slot = this.#slotOf(hash);
    if (this.#slots[slot] >= 0) return this.#slots[slot];
    if (this.size === this.#hashes.length) {
      this.#grow();
      return this.add(hash);
    }
    this.#hashes[this.size] = hash;
    this.#slots[slot] = this.size;
    return this.size++;
  }

  #grow() {
    const hashes = this.#hashes;
    this.#hashes = new Uint32Array(2 * hashes.length);
    this.#hashes.set(hashes);
    this.#slots = new Int32Array(4 * hashes.length).fill(-1);
    hashes.forEach((hash, row) => (this.#slots[this.#slotOf(hash)] = row));
  }

  #slotOf(hash) {
    const mask = this.#slots.length - 1;
    let slot = hash & mask;
    while (this.#slots[slot] >= 0 && this.#hashes[this.#slots[slot]] !== hash) slot = (slot + 1) & mask;
    return slot;
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

export function weightedSum(weights, vectors) {
  const total = new Float32Array(vectors[0].length);
  weights.forEach((weight, n) => vectors[n].forEach((value, d) => (total[d] += weight * value)));
  return total;
}
