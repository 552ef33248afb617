/** A model folder, open for questions: the answers of the server's endpoints, without a server. */

import { SentenceComparison } from "./opposed.js";
import { vectorOf } from "./pair_encoder.js";
import { readParameters } from "./parameters.js";
import { Relations, matches } from "./relations.js";
import { WordSearch, analogousPairs, offsetCosines, pairCosines, topK } from "./search.js";
import { PairSpace } from "./space.js";
import { Tensors, dot, normalise } from "./tensors.js";
import { QuestionError, Tokeniser, quoted } from "./text.js";
import { WordForms } from "./word_forms.js";

/** What a folder that `pair2vec explorer` wrote has of a model. */
export const FILES = ["model.safetensors", "engine.safetensors", "engine.json", "config.json", "vocabulary.txt", "patterns.tsv"];

const NEAREST = { firstWords: 300, secondWords: 30 };

/**
 * @typedef {Object} ModelFiles
 * @property {Tensors} tensors Of the model.
 * @property {Tensors} derived What Python has computed from it: whitening, clusters of words.
 * @property {string} vocabulary
 * @property {string[]} patterns Frequent ones of the corpus.
 * @property config Of the model.
 * @property engine Lists of words, constants, definitions and endpoints, as Python has them.
 */

export class Model {
  #patternVectors = null;
  #parameters;
  #answers;

  /** @param {Object<string, ArrayBuffer>} contents Of each of `FILES`. */
  constructor(contents) {
    const text = (name) => new TextDecoder().decode(contents[name]);
    /** @type {ModelFiles} */
    const files = {
      tensors: new Tensors(contents["model.safetensors"]),
      derived: new Tensors(contents["engine.safetensors"]),
      vocabulary: text("vocabulary.txt"),
      patterns: text("patterns.tsv").split("\n").slice(0, -1).map((line) => line.split("\t")[0]),
      config: JSON.parse(text("config.json")),
      engine: JSON.parse(text("engine.json")),
    };
    const { engine, config, derived } = files;
    const tokeniser = new Tokeniser(engine.entities);
    this.facts = engine.facts;
    this.constants = engine.constants;
    this.space = new PairSpace(files, tokeniser);
    this.patterns = files.patterns;
    this.search = new WordSearch(this.space, derived, engine.constants.SHORTLIST);
    this.relations = config.relations ? new Relations(this.space, files, new WordForms(engine.lists)) : null;
    this.sentences = this.relations && new SentenceComparison(this.relations, engine, tokeniser);
    this.#parameters = new Map(engine.endpoints.map(({ name, parameters }) => [name, parameters]));
    this.#answers = {
      fill: (values) => this.#fill(values),
      pair: (values) => this.#pair(values),
      analogy: (values) => this.#analogy(values),
      nearest: (values) => this.#nearest(values),
      score: (values) => this.#score(values),
      words: (values) => this.#words(values),
      relate: (values) => this.#relate(values),
      opposed: ({ a, b }) => this.sentences.compare(a, b),
      neighbours: (values) => this.#neighbours(values),
    };
  }

  /** The questions that it answers. */
  get questions() {
    return [...this.#parameters.keys()];
  }

  /**
   * The answer to a question, as the server gives it at `/api/NAME`.
   *
   * @param {string} name
   * @param {Object<string, string | number | boolean | string[]>} parameters
   * @throws {QuestionError}
   */
  ask(name, parameters = {}) {
    if (name === "model") return { facts: this.facts, questions: this.questions };
    const declared = this.#parameters.get(name);
    if (!declared) throw new QuestionError(`this model cannot answer '${name}'`);
    const values = readParameters(declared, parameters);
    const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
    const answer = this.space.kernels.scope(() => this.#answers[name](values));
    return { query: { command: name, ...given }, ...answer };
  }

  #fill({ pattern: patterns, x, y, paper, prior, search, all_words: allWords, offset, top }) {
    const { vocabulary, patternEncoder } = this.space;
    const last = offset + top;
    if (x !== null && y !== null) {
      if (prior !== null) throw new QuestionError("prior: both words are given, so there is none to weigh");
      const vector = this.#vector(x, y);
      const found = this.#ranked(patterns, patternEncoder.encode(patterns), vector, last);
      return { matches: found.slice(offset) };
    }
    if (patterns.length > 1) throw new QuestionError("several patterns are ranked for a pair: give both x and y");
    const { text, isExchanged, reason } = patternEncoder.readable(patterns[0]);
    const [first, second] = isExchanged ? [y, x] : [x, y];
    if (x === null && y === null) {
      throw new QuestionError(
        `pattern ${quoted(text)}: give the word in slot X or the one in slot Y, to find the other; or both, ` +
          "and a list of patterns to rank",
      );
    }
    const word = vocabulary.lookUp(x ?? y);
    const usual = this.constants[paper ? "PAPER_WEIGHTS" : "SLOT_WEIGHTS"];
    const weights = prior === null ? usual : { ...usual, prior };
    const context = patternEncoder.encode([text]);
    const options = { weights, search, allWords, top: last };
    const found = this.search.fill(word, first === null ? "y" : "x", context, options);
    const slot = first === null ? { y: second } : { x: first };
    const asked = reason ? { asked: { pattern: text, ...slot, reason } } : {};
    return { ...asked, matches: found.slice(offset) };
  }

  #pair({ x, y, direction, vector, top }) {
    const sides = { forward: [x, y], backward: [y, x] };
    const directions = direction === "both" ? Object.keys(sides) : [direction];
    return Object.fromEntries(directions.map((name) => [name, this.#directed(...sides[name], vector, top)]));
  }

  #directed(x, y, withVector, top) {
    const vector = this.#vector(x, y);
    const norm = Math.sqrt(dot(vector, 0, vector, 0, vector.length));
    const patterns = this.patterns.length ? this.#explain(vector, top) : null;
    const whole = withVector ? { vector: [...normalise(vector.slice())] } : {};
    return { x, y, norm, ...whole, patterns };
  }

  #analogy({ a, b, x, alpha, direction, search, all_words: allWords, offset, top }) {
    const abx = [a, b, x].map((word) => this.space.vocabulary.lookUp(word));
    const weight = alpha ?? this.constants.ANALOGY_ALPHA;
    const options = { alpha: weight, direction, search, allWords, top: offset + top };
    return { matches: this.search.analogy(abx, options).slice(offset) };
  }

  #nearest({ x, y, alpha, direction, all_words: allWords, offset, top }) {
    const { space } = this;
    const example = [x, y].map((word) => space.vocabulary.lookUp(word));
    const found = analogousPairs(space, ...example, { among: space.pairs.words, ...NEAREST });
    const isNone = space.noAnswers(example, allWords);
    const areAnswers = (_, n) => !isNone(found.first[n]) && !isNone(found.second[n]);
    const [first, second] = [found.first, found.second].map((side) => side.filter(areAnswers));
    const cosines = pairCosines(space.whitenedPairs, example, first, second, direction);
    const offsets = offsetCosines(space, example, first, second);
    const scores = cosines.map((cosine, n) => alpha * cosine + (1 - alpha) * offsets[n]);
    return { matches: matches(space, first, second, scores, offset + top).slice(offset) };
  }

  #score({ x, y, pattern }) {
    const vector = this.#vector(x, y);
    return { score: dot(vector, 0, this.space.patternEncoder.encode([pattern]), 0, vector.length) };
  }

  #words({ start, offset, top }) {
    const prefix = start.toLowerCase().trim().replace(/\s+/g, " ");
    return { words: this.space.vocabulary.completions(prefix, offset + top).slice(offset) };
  }

  #relate({ x, y, top }) {
    const [first, second] = [x, y].map((word) => this.space.vocabulary.lookUp(word));
    const patterns = top && this.patterns.length ? this.#explain(this.#vector(x, y), top) : [];
    return { ...this.relations.relate(first, second, top), patterns };
  }

  #neighbours({ word, relation, all_words: allWords, offset, top }) {
    return { matches: this.relations.neighbours(word, relation, offset + top, allWords).slice(offset) };
  }

  /** R(x, y) of two typed words. */
  #vector(x, y) {
    return vectorOf(this.space.pairs, ...[x, y].map((word) => this.space.vocabulary.lookUp(word)));
  }

  /** The frequent patterns of the corpus that fit a vector best. */
  #explain(vector, top) {
    this.#patternVectors ??= this.space.patternEncoder.encode(this.patterns);
    return this.#ranked(this.patterns, this.#patternVectors, vector, top);
  }

  #ranked(patterns, vectors, vector, top) {
    const size = vector.length;
    const scores = patterns.map((_, n) => dot(vectors, n * size, vector, 0, size));
    return topK(scores, top).map((n) => ({ pattern: patterns[n], score: scores[n] }));
  }
}

/** An error as the server has it. */
export function errorContent(error) {
  const { message, word, alike } = error;
  return word ? { error: message, word, alike } : { error: message };
}
