/** Forms of English words by spelling: inflections and negations. */

const SHORTEST_STEM = 3;
const SHORTEST_NEGATED = 4;
const SHORTEST_PART = 3;

/** @param lists Of `engine.json`: endings, prefixes, and irregular forms. */
export class WordForms {
  #known = new Map();
  #lists;

  constructor(lists) {
    this.#lists = { ...lists, endings: new Set(lists.endings), negatingPrefixes: new Set(lists.negating_prefixes) };
    this.#lists.irregular = new Map(Object.entries(lists.irregular));
  }

  /** Whether two words look like forms of one: *cheap* and *cheaper*, *stands* and *stood*. */
  isForm(word, other) {
    const mayDiffer = word.length !== other.length && word[0] === other[0];
    if (mayDiffer && this.#differByEnding(word, other)) return true;
    const bases = this.baseForms(other);
    for (const base of this.baseForms(word)) if (bases.has(base)) return true;
    return false;
  }

  #differByEnding(word, other) {
    const [short, long] = word.length <= other.length ? [word, other] : [other, word];
    const stems = [short, without(short, "e"), without(short, "y"), short + short.slice(-1)];
    return stems.some((stem) => stem && long.startsWith(stem) && this.#lists.endings.has(long.slice(stem.length)));
  }

  /** What a word may be an inflected form of; some of them are stems that are no words. */
  baseForms(word) {
    if (!this.#known.has(word)) this.#known.set(word, this.#findBaseForms(word));
    return this.#known.get(word);
  }

  #findBaseForms(word) {
    const stems = new Set();
    for (const [ending, replaced] of Object.entries(this.#lists.inflections)) {
      if (!word.endsWith(ending) || word.length - ending.length + replaced.length < SHORTEST_STEM) continue;
      stems.add(word.slice(0, word.length - ending.length) + replaced);
    }
    // *stopping* is a form of *stop*, and *writing* of *write*.
    for (const stem of [...stems]) if (stem.at(-1) === stem.at(-2)) stems.add(stem.slice(0, -1));
    if (word.endsWith("ing")) for (const stem of [...stems]) stems.add(`${stem}e`);
    return new Set([word, ...stems, ...(this.#lists.irregular.get(word) ?? [])]);
  }

  /** The same for British and American spellings of a word; itself may be no word. */
  spellingKey(word) {
    return this.#lists.variants.reduce((key, [british, american]) => key.replaceAll(british, american), word);
  }

  /** Whether one of two words looks like the negation of the other: *unfair* and *fair*. */
  isNegatedForm(word, other) {
    if (word.at(-1) !== other.at(-1) && !word.endsWith("ful") && !other.endsWith("ful")) return false;
    const [short, long] = word.length <= other.length ? [word, other] : [other, word];
    if (long.endsWith(short)) {
      const prefix = long.slice(0, long.length - short.length);
      return short.length >= SHORTEST_NEGATED && this.#lists.negatingPrefixes.has(prefix);
    }
    const [having, lacking] = word.endsWith("ful") ? [word, other] : [other, word];
    return having.endsWith("ful") && lacking === `${without(having, "ful")}less`;
  }

  /** Whether the beginnings of two words are opposites: *unfair*, *fair*; *encode*, *decode*. */
  differByPrefix(word, other) {
    if (this.isNegatedForm(word, other)) return true;
    return [[word, other], [other, word]].some(([one, two]) =>
      this.#lists.opposite_prefixes.some(
        ([first, second]) =>
          one.length >= first.length + SHORTEST_NEGATED &&
          one.startsWith(first) &&
          two === second + one.slice(first.length),
      ),
    );
  }

  /** The word in lower case; then its other spellings and forms, the most likely first. */
  *spellingVariants(word) {
    const lower = word.toLowerCase();
    yield lower;
    for (const joint of ["", "-"]) {
      const joined = lower.replace(/[-_ ]/g, joint);
      if (joined !== lower) yield joined;
    }
    for (const [ending, other] of this.#lists.forms) {
      if (lower.endsWith(ending)) yield lower.slice(0, lower.length - ending.length) + other;
    }
    for (const [part, other] of this.#lists.spellings) if (lower.includes(part)) yield lower.replaceAll(part, other);
    const parts = lower.split(/[-_ ]/);
    if (parts.length > 1) yield* parts.reverse().filter((part) => part.length >= SHORTEST_PART);
  }
}

function without(word, ending) {
  return word.endsWith(ending) ? word.slice(0, word.length - ending.length) : word;
}
