/**
 * C(c), for contexts of ids and for patterns as a user types them.
 *
 * Shapes: B contexts, L context length, D dimension, H hidden size of each direction.
 */

import { ROWS_PER_BLOCK } from "./kernels.js";
import { Layer } from "./pair_encoder.js";
import { dot } from "./tensors.js";
import { QuestionError, nearestContextPattern, parsePattern, quoted } from "./text.js";
import { BOUNDARY, SPECIAL, X, Y } from "./vocabulary.js";

/** C: a BiLSTM over the words of a context, pooled by attention. */
class ContextNetwork {
  constructor(kernels, tensors) {
    this.kernels = kernels;
    this.rows = tensors.rows("context.words");
    const bias = tensors.array("context.bias");
    this.input = Layer.saved(kernels, savedAs(tensors, "context.input_weight", bias), "");
    const [directions, hidden, gates] = tensors.shape("context.state_weight");
    const states = tensors.array("context.state_weight");
    const size = states.length / directions;
    this.hidden = hidden;
    this.states = [0, 1].map((n) => kernels.pack(states.subarray(n * size, (n + 1) * size), hidden, gates));
    this.attention = tensors.array("context.attention.weight");
    const [dimension] = tensors.shape("context.value.weight");
    this.dimension = dimension;
    this.value = Layer.saved(kernels, savedAs(tensors, "context.value.weight", new Float32Array(dimension)), "");
  }

  /** Its ids are below this; a shrunk model has fewer context words than the vocabulary. */
  get words() {
    return this.rows.length;
  }

  /** C of contexts of one length: a matrix (B, D). */
  encode(contexts) {
    const { kernels, hidden } = this;
    const places = new Map();
    for (const context of contexts) for (const word of context) if (!places.has(word)) places.set(word, places.size);
    const gates = this.#gates([...places.keys()]);
    const rows = contexts.map((context) => context.map((word) => places.get(word)));
    const backwards = rows.map((row) => row.toReversed());
    const states = [
      this.#run(rows, gates, 0),
      this.#run(backwards, gates, 1).toReversed(),
    ];
    const length = contexts[0].length;
    const pooled = kernels.matrix(contexts.length, 2 * hidden);
    const [out, scores] = [pooled.data, new Float64Array(length)];
    for (let n = 0; n < contexts.length; n += 1) {
      for (let step = 0; step < length; step += 1) {
        const parts = states.map((side, half) => dot(side[step], n * hidden, this.attention, half * hidden, hidden));
        scores[step] = parts[0] + parts[1];
      }
      const most = Math.max(...scores);
      const weights = scores.map((score) => Math.exp(score - most));
      const total = weights.reduce((sum, weight) => sum + weight);
      for (let step = 0; step < length; step += 1) {
        const share = weights[step] / total;
        states.forEach((side, half) => {
          const at = n * pooled.stride + half * hidden;
          for (let d = 0; d < hidden; d += 1) out[at + d] += share * side[step][n * hidden + d];
        });
      }
    }
    return this.value.apply(pooled);
  }

  /** What each word adds to the gates of both directions, (W, 8H). */
  #gates(words) {
    const inputs = this.kernels.matrix(words.length, this.rows.columns);
    const { data, stride } = inputs;
    words.forEach((word, n) => this.rows.read(word, data, n * stride));
    return this.input.apply(inputs);
  }

  /**
   * The states of an LSTM in one direction, by step: (B, H) each. Contexts that begin with the same
   * words have the same states there, which are computed once.
   */
  #run(rows, gates, direction) {
    const { kernels, hidden } = this;
    const steps = [];
    let prefixes = new Int32Array(rows.length); // of each context, among the distinct ones
    let [state, cell] = [kernels.matrix(1, hidden), new Float32Array(hidden)];
    for (let step = 0; step < rows[0].length; step += 1) {
      const known = new Map();
      const [before, last] = [[], []];
      prefixes = prefixes.map((prefix, n) => {
        const word = rows[n][step];
        const key = prefix * gates.rows + word;
        if (!known.has(key)) {
          known.set(key, before.length);
          before.push(prefix);
          last.push(word);
        }
        return known.get(key);
      });
      const carried = kernels.product(state, this.states[direction]);
      const [next, nextCell] = [kernels.matrix(before.length, hidden), new Float32Array(before.length * hidden)];
      const [input, own, out] = [gates.data, carried.data, next.data];
      for (let n = 0; n < before.length; n += 1) {
        const from = last[n] * gates.stride + direction * 4 * hidden;
        const at = before[n] * carried.stride;
        for (let d = 0; d < hidden; d += 1) {
          const enter = input[from + d] + own[at + d];
          const forget = input[from + hidden + d] + own[at + hidden + d];
          const candidate = input[from + 2 * hidden + d] + own[at + 2 * hidden + d];
          const leave = input[from + 3 * hidden + d] + own[at + 3 * hidden + d];
          const kept = sigmoid(forget) * cell[before[n] * hidden + d];
          const value = sigmoid(enter) * tanh(candidate) + kept;
          nextCell[n * hidden + d] = value;
          out[n * next.stride + d] = sigmoid(leave) * tanh(value);
        }
      }
      [state, cell] = [next, nextCell];
      const whole = new Float32Array(rows.length * hidden);
      prefixes.forEach((prefix, n) => whole.set(next.row(prefix), n * hidden));
      steps.push(whole);
    }
    return steps;
  }
}

/** Tensors with a weight and a bias under the names that a layer has. */
function savedAs(tensors, name, bias) {
  return { array: (part) => (part === ".bias" ? bias : tensors.array(name)) };
}

const sigmoid = (value) => 1 / (1 + Math.exp(-value));
const tanh = (value) => 1 - 2 / (Math.exp(2 * value) + 1);

/**
 * C of patterns such as `neither X nor Y`. An outer word that is left open is the mean over frequent
 * words: R·C is linear in C, so this is the mean of the scores of all contexts that it stands for.
 */
export class PatternEncoder {
  #network;
  #open;

  /**
   * @param {{openWords: number, sentences: number, similar: (word: number, end: number) => number}}
   *   options How many words, and sentences of the corpus; which word below an id is most like one.
   */
  constructor(kernels, tensors, vocabulary, { openWords, sentences, similar }) {
    this.similar = similar;
    this.#network = new ContextNetwork(kernels, tensors);
    this.vocabulary = vocabulary;
    const last = Math.min(SPECIAL + openWords, this.#network.words);
    this.#open = new Map();
    for (let id = SPECIAL; id < last; id += 1) this.#open.set(id, vocabulary.counts[id]);
    const hasCounts = [...this.#open.values()].some((count) => count > 0);
    if (sentences || !hasCounts) this.#open.set(BOUNDARY, sentences || 1);
  }

  /** One vector a pattern, (patterns, D) row by row. */
  encode(patterns) {
    const { dimension, kernels } = this.#network;
    const vectors = new Float32Array(patterns.length * dimension);
    const byLength = new Map();
    patterns.forEach((text, row) => {
      for (const { context, weight } of this.#contexts(this.#ids(text))) {
        if (!byLength.has(context.length)) byLength.set(context.length, []);
        byLength.get(context.length).push({ row, context, weight });
      }
    });
    for (const group of byLength.values()) {
      for (let start = 0; start < group.length; start += 4 * ROWS_PER_BLOCK) {
        const part = group.slice(start, start + 4 * ROWS_PER_BLOCK);
        kernels.scope(() => {
          const { data, stride } = this.#network.encode(part.map(({ context }) => context));
          part.forEach(({ row, weight }, n) => {
            for (let d = 0; d < dimension; d += 1) vectors[row * dimension + d] += weight * data[n * stride + d];
          });
        });
      }
    }
    return vectors;
  }

  /**
   * The nearest pattern to a typed one that C can read: with the form of a context, in which the
   * most similar word that C has stands for each that it does not have.
   *
   * @returns {{text: string, isExchanged: boolean, reason: string}}
   */
  readable(text) {
    const nearest = nearestContextPattern(text, this.vocabulary);
    const { words } = this.vocabulary;
    const { left, between, right } = this.#parse(nearest.text);
    const rare = this.#rareWords({ left, between, right });
    if (!rare.length) return nearest;
    const read = (id) => words[rare.includes(id) ? this.similar(id, this.#network.words) : id];
    const outer = (id) => (id === null ? [] : [read(id)]);
    const tokens = [...outer(left), "X", ...between.map(read), "Y", ...outer(right)];
    const tooRare = rare.map((id) => `${quoted(words[id])} is too rare for a pattern`);
    const reason = [nearest.reason, ...tooRare].filter(Boolean).join("; ");
    return { ...nearest, text: tokens.join(" "), reason };
  }

  #parse(text) {
    const { left, between, right } = parsePattern(text, this.vocabulary);
    const lookUp = (word) => (word === null ? null : this.vocabulary.lookUpToken(word));
    return { left: lookUp(left), between: between.map(lookUp), right: lookUp(right) };
  }

  /** The words that C does not have. */
  #rareWords({ left, between, right }) {
    return [...new Set([left, ...between, right])].filter((id) => id !== null && id >= this.#network.words);
  }

  #ids(text) {
    const { words } = this.vocabulary;
    const ids = this.#parse(text);
    const [rare] = this.#rareWords(ids);
    if (rare === undefined) return ids;
    const known = (this.#network.words - SPECIAL).toLocaleString("en");
    const similar = words[this.similar(rare, this.#network.words)];
    throw new QuestionError(
      `pattern ${quoted(text)}: ${quoted(words[rare])} is too rare for a pattern; this model has the ${known} most ` +
        `frequent words there; ${quoted(similar)} is like it`,
    );
  }

  /** The contexts that a pattern stands for, with weights that sum to one. */
  #contexts({ left, between, right }) {
    const [lefts, rights] = [left, right].map((word) => [...(word === null ? this.#open : new Map([[word, 1]]))]);
    const [before, behind] = [lefts, rights].map((side) => side.reduce((sum, [, count]) => sum + count, 0));
    return lefts.flatMap(([first, one]) =>
      rights.map(([last, other]) => ({
        context: [first, X, ...between, Y, last],
        weight: (one * other) / (before * behind),
      })),
    );
  }
}
