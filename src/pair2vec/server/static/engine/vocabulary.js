/** The vocabulary: ids by word, and what is suggested for a word that is not in it. */

import { QuestionError, quoted } from "./text.js";

/** Ids of the two slots of a context, and of a sentence's edge; of the first word. */
export const X = 1;
export const Y = 2;
export const BOUNDARY = 3;
export const SPECIAL = 4;

const SUGGESTED_FROM = 50_000;
const MOST_DIFFERENCE = 2;
const LEAST_SIMILAR = 0.7;
/** Of a phrase. */
const MOST_TOKENS = 5;

/** A word is not in the vocabulary; `alike` are known ones of similar spelling. */
export class UnknownWordError extends QuestionError {
  constructor(word, alike) {
    super(`${quoted(word)} is not in the vocabulary${alike.length ? `; did you mean ${alike.join(", ")}?` : ""}`);
    Object.assign(this, { word, alike });
  }
}

export class Vocabulary {
  /**
   * @param {string} text Of `vocabulary.txt`: a word a line.
   * @param {BigInt64Array} counts How often each occurs.
   */
  constructor(text, counts, tokeniser) {
    this.words = text.split("\n").slice(0, -1);
    this.counts = Array.from(counts, Number);
    this.ids = new Map(this.words.map((word, id) => [word, id]));
    this.tokeniser = tokeniser;
  }

  get size() {
    return this.words.length;
  }

  /** Of each word its share of the corpus; a count of 0 is taken for 1. */
  get shares() {
    if (!this.knownShares) {
      const counts = this.counts.map((count) => Math.max(count, 1));
      const total = counts.slice(SPECIAL).reduce((sum, count) => sum + count, 0);
      this.knownShares = Float64Array.from(counts, (count) => count / total);
    }
    return this.knownShares;
  }

  /** The id of a word or phrase by its tokens, if there is one. */
  find(tokens) {
    const spelled = tokens.join(" ");
    const other = tokens.length > 1 ? tokens.join("_") : spelled.replaceAll("_", " ");
    return this.ids.get(spelled) ?? this.ids.get(other);
  }

  /** The id of a typed word or phrase, in any case. */
  lookUp(text) {
    const tokens = this.tokeniser.tokens(text);
    if (!tokens.length) {
      throw new QuestionError(`${quoted(text)} is nothing to the tokeniser; give a word or a phrase`);
    }
    return this.find(tokens) ?? this.lookUpToken(tokens.join(" "));
  }

  /** The tokens of a sentence with each phrase as one: at each token the longest that begins there. */
  joinTokens(tokens) {
    const joined = [];
    for (let start = 0; start < tokens.length; ) {
      let size = Math.min(MOST_TOKENS, tokens.length - start);
      while (size > 1 && !this.ids.has(tokens.slice(start, start + size).join(" "))) size -= 1;
      joined.push(tokens.slice(start, start + size).join(" "));
      start += size;
    }
    return joined;
  }

  /** The id of a word that is spelled as the tokeniser spells it. */
  lookUpToken(token) {
    const id = this.ids.get(token);
    if (id === undefined) throw new UnknownWordError(token, this.spelledLike(token));
    return id;
  }

  /** Known words that begin so, the most frequent first; without any, those of similar spelling. */
  completions(prefix, count) {
    const found = [];
    for (const word of this.words) {
      if (found.length === count) break;
      if (word.startsWith(prefix) && !word.startsWith("<")) found.push(word);
    }
    return found.length ? found : this.spelledLike(prefix, Math.min(count, 5));
  }

  /**
   * Known words of similar spelling, the most similar first. For a phrase, first the longest known
   * phrases within it; its known words, if there is nothing else.
   */
  spelledLike(word, count = 3) {
    const alike = this.#closeMatches(word, count);
    const tokens = word.split(" ");
    if (tokens.length === 1) return alike;
    const within = [];
    for (let size = Math.min(MOST_TOKENS, tokens.length - 1); size > 1; size -= 1) {
      for (let start = 0; start <= tokens.length - size; start += 1) {
        within.push(tokens.slice(start, start + size).join(" "));
      }
    }
    const isKnown = (part) => this.ids.has(part);
    const found = [...new Set([...within.filter(isKnown), ...alike])].slice(0, count);
    return found.length ? found : [...new Set(tokens.filter(isKnown))].slice(0, count);
  }

  #closeMatches(word, count) {
    const letters = [...word];
    const places = new Map();
    letters.forEach((letter, n) => places.set(letter, [...(places.get(letter) ?? []), n]));
    const found = [];
    for (let id = SPECIAL; id < Math.min(this.size, SUGGESTED_FROM); id += 1) {
      const other = [...this.words[id]];
      if (Math.abs(other.length - letters.length) > MOST_DIFFERENCE) continue;
      if (this.words[id].includes(" ") !== word.includes(" ")) continue;
      const most = 2 * Math.min(sharedLetters(other, places), Math.min(other.length, letters.length));
      const size = other.length + letters.length;
      if (most / size < LEAST_SIMILAR) continue;
      const ratio = (2 * matchingLetters(other, letters, places)) / size;
      if (ratio >= LEAST_SIMILAR) found.push({ ratio, word: this.words[id] });
    }
    found.sort((a, b) => b.ratio - a.ratio || (a.word < b.word ? 1 : -1));
    return found.slice(0, count).map((one) => one.word);
  }
}

/** How many letters two words share, in any order. */
function sharedLetters(word, places) {
  const left = new Map();
  let shared = 0;
  for (const letter of word) {
    const free = left.get(letter) ?? places.get(letter)?.length ?? 0;
    left.set(letter, free - 1);
    if (free > 0) shared += 1;
  }
  return shared;
}

/** The letters in the longest common part, those before it and those behind it: Ratcliff and Obershelp. */
function matchingLetters(a, b, places, [from, to, low, high] = [0, a.length, 0, b.length]) {
  let [start, other, size] = [from, low, 0];
  let lengths = new Map();
  for (let n = from; n < to; n += 1) {
    const next = new Map();
    for (const m of places.get(a[n]) ?? []) {
      if (m < low || m >= high) continue;
      const length = (lengths.get(m - 1) ?? 0) + 1;
      next.set(m, length);
      if (length > size) [start, other, size] = [n - length + 1, m - length + 1, length];
    }
    lengths = next;
  }
  if (!size) return 0;
  const before = matchingLetters(a, b, places, [from, start, low, other]);
  return size + before + matchingLetters(a, b, places, [start + size, to, other + size, high]);
}
