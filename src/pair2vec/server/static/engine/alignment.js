/**
 * The words of two sentences, aligned: equal words first, then forms of one word. And the words that
 * reverse a sentence by themselves: negations, and opposites of closed classes.
 */

import { fold } from "./text.js";

const LARGEST_TABLE = 40_000;
const SAME_BEGINNING = 3;
const SCOPE = 4;
const LEAST_RELATED = 0.3;
const OWN_SCOPE = 0.5;
const IMPLICIT = 0.9;
const NUMBER = /^\p{Nd}[\p{Nd}.,:/]*(st|nd|rd|th)?$/u;
const LETTER = /\p{L}/u;

/**
 * @typedef {Object} Token
 * @property {string} text As it is written, but for apostrophes, which are straight.
 * @property {string} word As the vocabulary spells it; contractions are expanded.
 * @property {boolean} isContent Neither a function word nor a number.
 * @property {boolean} isNumber
 * @property {boolean} isName Capitalised, and not the first word.
 */

/** Words and numbers of sentences. */
export class SentenceReader {
  #lists;

  /** @param lists Of `engine.json`. */
  constructor(lists, tokeniser, forms) {
    this.#lists = {
      ...lists,
      functionWords: new Set(lists.function_words),
      contractions: new Map(Object.entries(lists.contractions)),
      clitics: new Map(Object.entries(lists.clitics)),
      numberWords: new Map(Object.entries(lists.number_words)),
    };
    Object.assign(this, { tokeniser, forms });
  }

  /** The words and numbers of a sentence, without punctuation. */
  tokensOf(sentence) {
    const found = [];
    const isShouted = /\p{Lu}/u.test(sentence) && !/[\p{Lowercase}\p{Lt}]/u.test(sentence);
    for (const spelled of this.tokeniser.casedTokens(sentence)) {
      const stripped = spelled.replace(/^-+|-+$/g, "");
      const isCompound = stripped.includes("-") && LETTER.test(spelled);
      for (const part of isCompound ? spelled.split("-") : [spelled]) {
        for (const word of this.#expanded(fold(part))) {
          const number = this.#lists.numberWords.get(word) ?? (NUMBER.test(word) ? word : "");
          const isNoLonger = word === "longer" && found.at(-1)?.word === "no";
          const isContent = !(number || this.#lists.functionWords.has(word) || isNoLonger);
          const isCapital = /^\p{Uppercase}/u.test(part);
          found.push({
            text: part,
            word: number.replace(/[.,:/]+$/, "") || word,
            isContent,
            isNumber: Boolean(number),
            isName: isContent && found.length > 0 && isCapital && !isShouted,
          });
        }
      }
    }
    return found;
  }

  /** The words of a contraction; a word itself; nothing for punctuation and possessives. */
  #expanded(word) {
    const { contractions, clitics } = this.#lists;
    if (contractions.has(word)) return contractions.get(word);
    const apostrophe = word.indexOf("'");
    if (apostrophe >= 0) {
      if (word.endsWith("n't")) return [word.slice(0, -3), "not"];
      const whole = clitics.get(word.slice(apostrophe));
      if (whole !== undefined) return [word.slice(0, apostrophe), whole].filter(Boolean);
    }
    return /[\p{L}\p{N}]/u.test(word) ? [word] : [];
  }

  /** Align equal words in their order, then equal ones out of it, then forms of one word. */
  align(a, b) {
    const found = new Alignment(a, b);
    const [keysA, keysB] = [a, b].map((side) => side.map((token) => this.forms.spellingKey(token.word)));
    let [start, endA, endB] = [0, a.length, b.length];
    while (start < Math.min(endA, endB) && keysA[start] === keysB[start]) {
      found.pair(start, start);
      start += 1;
    }
    while (Math.min(endA, endB) > start && keysA[endA - 1] === keysB[endB - 1]) {
      [endA, endB] = [endA - 1, endB - 1];
      found.pair(endA, endB);
    }
    if ((endA - start) * (endB - start) <= LARGEST_TABLE) {
      const common = commonSubsequence(keysA.slice(start, endA), keysB.slice(start, endB));
      for (const [i, j] of common) found.pair(start + i, start + j);
    }
    this.#alignRest(found, keysA, keysB);
    this.#alignForms(found);
    return found;
  }

  /** Align words without a partner that have the same key, wherever they are. */
  #alignRest(found, keysA, keysB) {
    const places = new Map();
    for (const j of found.restB.reverse()) {
      if (!places.has(keysB[j])) places.set(keysB[j], []);
      places.get(keysB[j]).push(j);
    }
    for (const i of found.restA) {
      const free = places.get(keysA[i]);
      if (free?.length) found.pair(i, free.pop());
    }
  }

  /** Align content words without a partner that are forms of one word. */
  #alignForms(found) {
    const { forms } = this;
    const bases = new Map();
    const rest = found.restB.filter((j) => found.b[j].isContent);
    for (const j of rest.toReversed()) for (const base of forms.baseForms(found.b[j].word)) bases.set(base, j);
    for (const i of found.restA) {
      const { word, isContent } = found.a[i];
      if (!isContent) continue;
      const same = new Set([...forms.baseForms(word)].map((base) => bases.get(base)));
      const looksAlike = (other) =>
        word.slice(0, SAME_BEGINNING) === other.slice(0, SAME_BEGINNING) && forms.isForm(word, other);
      const free = rest.find((j) => found.partnerB[j] < 0 && (same.has(j) || looksAlike(found.b[j].word)));
      if (free !== undefined) found.pair(i, free);
    }
  }
}

/** Which word of one sentence is which of the other; -1 for none. */
class Alignment {
  constructor(a, b) {
    Object.assign(this, { a, b, partnerA: a.map(() => -1), partnerB: b.map(() => -1) });
  }

  pair(i, j) {
    [this.partnerA[i], this.partnerB[j]] = [j, i];
  }

  /** The places in a of words without a partner. */
  get restA() {
    return withoutPartner(this.partnerA);
  }

  get restB() {
    return withoutPartner(this.partnerB);
  }

  /** Of each word without a partner, those of a and those of b: the partners next to it, in b. */
  gaps() {
    const size = this.b.length;
    return [gaps(this.partnerA, size), gaps(this.partnerB.map((partner, j) => (partner >= 0 ? j : -1)), size)];
  }
}

function withoutPartner(partners) {
  return partners.flatMap((partner, n) => (partner < 0 ? [n] : []));
}

function gaps(places, size) {
  const [before, after] = [[], []];
  let left = -1;
  for (const place of places) {
    if (place < 0) before.push(left);
    else left = place;
  }
  let right = size;
  for (const place of places.toReversed()) {
    if (place < 0) after.push(right);
    else right = place;
  }
  return before.map((place, n) => [place, after[after.length - 1 - n]]);
}

/** The pairs of indices of a longest common subsequence. */
function commonSubsequence(a, b) {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i][j] = a[i] === b[j] ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
    }
  }
  const pairs = [];
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) {
      pairs.push([i, j]);
      [i, j] = [i + 1, j + 1];
    } else if (lengths[i + 1][j] >= lengths[i][j + 1]) i += 1;
    else j += 1;
  }
  return pairs;
}

/** Negations and opposites among the words of sentences that differ. */
export class Negations {
  #lists;

  constructor(lists, forms) {
    this.forms = forms;
    this.#lists = {
      negations: new Map(Object.entries(lists.negations)),
      implicit: new Map(Object.entries(lists.implicit_negations)),
      opposites: new Set(lists.opposites.flatMap(([one, other]) => [`${one}/${other}`, `${other}/${one}`])),
    };
  }

  /** The places of opposites of the closed classes among the words without a partner. */
  listedOpposites(alignment) {
    const found = [];
    let free = alignment.restB;
    for (const i of alignment.restA) {
      const j = free.find((place) => this.#lists.opposites.has(`${alignment.a[i].word}/${alignment.b[place].word}`));
      if (j === undefined) continue;
      found.push([i, j]);
      free = free.filter((place) => place !== j);
    }
    return found;
  }

  /**
   * The places of the words of a side that negate, and how probably they do.
   *
   * @param {{tokens: Token[], rest: number[], used: Set<number>, related: Map<number, number>,
   *   alike: Map<number, number>}} side As `Side` of `relations/negation.py`.
   * @returns {{place: number, probability: number}[]}
   */
  ofSide({ tokens, rest, used, related, alike }) {
    const found = [];
    for (const place of rest) {
      let probability = this.#negation(tokens, place) * (1 - (alike.get(place) ?? 0));
      if (probability && hasOwnScope(tokens, place, related)) probability *= OWN_SCOPE;
      if (probability && !used.has(place)) found.push({ place, probability });
    }
    return found;
  }

  /** The probability that a word negates what follows it. */
  #negation(tokens, n) {
    const { negations, implicit } = this.#lists;
    const { word } = tokens[n];
    const following = tokens[n + 1]?.word ?? "";
    if (negations.has(word)) {
      const before = tokens.slice(Math.max(0, n - 2), n).map((token) => token.word);
      const isNone =
        (word === "not" && following === "only") ||
        (word === "no" && following === "doubt") ||
        before.at(-1) === "or" ||
        before.join(" ") === "or why";
      const hasNeither = word === "nor" && tokens.slice(0, n).some((token) => token.word === "neither");
      return isNone || hasNeither ? 0 : negations.get(word);
    }
    if (word === "yet" && following === "to") return IMPLICIT;
    for (const base of this.forms.baseForms(word)) {
      if (implicit.has(base) && following.endsWith(implicit.get(base))) return IMPLICIT;
    }
    return 0;
  }
}

/** Whether the first content word behind a negation says what the other sentence lacks. */
function hasOwnScope(tokens, n, related) {
  for (let place = n + 1; place < Math.min(n + 1 + SCOPE, tokens.length); place += 1) {
    if (tokens[place].isContent) return related.has(place) && related.get(place) < LEAST_RELATED;
  }
  return false;
}
