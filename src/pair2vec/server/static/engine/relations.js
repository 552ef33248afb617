/**
 * Which relation holds between two words: by the relation head of a taught model, from R(x, y) and
 * R(y, x) to probabilities; of another model by regressions that Python has fitted.
 *
 * Shapes: N pairs, D dimension, K relations, no relation being the last.
 */

import { FittedRelations } from "./fitted_relations.js";
import { Layer, eachBlock } from "./pair_encoder.js";
import { analogousPairs, pairCosines, repeatedWords, topK } from "./search.js";
import { sharesWords } from "./space.js";
import { dot, normalise, safeNorm, softmax } from "./tensors.js";
import { QuestionError, quoted } from "./text.js";

export const NONE = "none";
const UNCLEAR = "unclear";
const MEANINGS = {
  [NONE]: "x and y are in none of these relations",
  [UNCLEAR]: "no relation is probable enough to be named",
};
const RUNNERS_UP = 3;
const MOST_FORMS = 5;
const LIKE = { firstWords: 80, secondWords: 10 };

/**
 * What relations of some pairs are computed from.
 *
 * @typedef {Object} PairBlock
 * @property {Int32Array[]} ids Of x and of y.
 * @property {Matrix[]} units Their vectors of unit norm.
 * @property {Matrix[]} both R(x, y) and R(y, x).
 * @property {number[]} cosines Of the two words.
 * @property {boolean[]} negated Whether one is spelled as the negation of the other.
 */

/** The relation head: the same for a pair and for the pair swapped. */
class RelationHead {
  /** @param {{inverse: number[], scale?: number, none?: number}} config Of the model. */
  constructor({ kernels }, tensors, { inverse, scale = 1, none = 0 }) {
    Object.assign(this, { kernels, scale, none });
    const [hidden, columns] = tensors.shape("relation.hidden.weight");
    const weight = tensors.array("relation.hidden.weight");
    const size = columns / 2;
    const [sums, differences] = [new Float32Array(size * hidden), new Float32Array(size * hidden)];
    for (let unit = 0; unit < hidden; unit += 1) {
      for (let d = 0; d < size; d += 1) {
        const [forward, backward] = [weight[unit * columns + d], weight[unit * columns + size + d]];
        sums[d * hidden + unit] = (forward + backward) / 2;
        differences[d * hidden + unit] = (forward - backward) / 2;
      }
    }
    this.sums = new Layer(kernels, sums, tensors.array("relation.hidden.bias"));
    this.differences = kernels.pack(differences, size, hidden);
    const count = inverse.length;
    const saved = tensors.array("relation.output.weight");
    const output = new Float32Array(2 * hidden * count);
    for (let unit = 0; unit < hidden; unit += 1) {
      for (let k = 0; k < count; k += 1) {
        output[unit * count + k] = saved[k * hidden + unit];
        output[(hidden + unit) * count + k] = saved[inverse[k] * hidden + unit];
      }
    }
    const symmetric = (name) => {
      const values = tensors.array(name);
      return values.map((value, k) => (value + values[inverse[k]]) / 2);
    };
    this.output = new Layer(kernels, output, symmetric("relation.output.bias"));
    this.similarity = symmetric("relation.similarity");
    this.negation = symmetric("relation.negation");
  }

  /**
   * Write the probabilities of pairs to `out` from `at` on.
   *
   * @param {PairBlock} block
   */
  probabilities({ both: [forward, backward], cosines, negated }, out, at) {
    const { kernels } = this;
    const scale = Math.sqrt(forward.columns);
    const [sum, difference] = [kernels.matrix(forward.rows, forward.columns), kernels.matrix(forward.rows, forward.columns)];
    const [one, other, sums, differences] = [forward.data, backward.data, sum.data, difference.data];
    for (let n = 0; n < forward.rows; n += 1) {
      const start = n * forward.stride;
      const factors = [one, other].map((side) => scale / safeNorm(side, start, forward.columns));
      for (let d = start; d < start + forward.columns; d += 1) {
        const [a, b] = [one[d] * factors[0], other[d] * factors[1]];
        sums[d] = a + b;
        differences[d] = a - b;
      }
    }
    const shared = this.sums.apply(sum);
    const opposed = kernels.product(difference, this.differences);
    const units = shared.columns;
    const hidden = kernels.matrix(forward.rows, 2 * units);
    const [from, by, to] = [shared.data, opposed.data, hidden.data];
    for (let n = 0; n < forward.rows; n += 1) {
      for (let unit = 0; unit < units; unit += 1) {
        const [a, b] = [from[n * shared.stride + unit], by[n * opposed.stride + unit]];
        to[n * hidden.stride + unit] = Math.max(a + b, 0);
        to[n * hidden.stride + units + unit] = Math.max(a - b, 0);
      }
    }
    const scores = this.output.apply(hidden);
    const count = scores.columns;
    for (let n = 0; n < forward.rows; n += 1) {
      const row = scores.row(n).map((score, k) => {
        const raw = score + cosines[n] * this.similarity[k] + (negated[n] ? this.negation[k] : 0);
        return raw * this.scale + (k === count - 1 ? this.none : 0);
      });
      out.set(softmax(row), at + n * count);
    }
  }
}

/** Relations by name, and their probabilities for any pair. */
export class Relations {
  #scorer;

  /** @param {import("./model.js").ModelFiles} files */
  constructor(space, { tensors, derived, config, engine }, forms) {
    const { names, thresholds, definitions, relates_forms: relatesForms } = engine.relations;
    Object.assign(this, { space, forms, names, relatesForms, constants: engine.constants });
    this.thresholds = Float32Array.from(thresholds);
    this.definitions = new Map(definitions.map((definition) => [definition.name, definition]));
    this.#scorer = config.relations
      ? new RelationHead(space, tensors, config.relations)
      : new FittedRelations(space, derived, engine.constants.NEAREST_EXAMPLES);
  }

  /** The probability of each relation for pairs of ids, that of none last: (N, K) row by row. */
  probabilities(x, y) {
    const { space, names, forms } = this;
    const { pairs } = space;
    const count = names.length;
    const out = new Float32Array(x.length * count);
    eachBlock(pairs, x, y, (one, other, start) => {
      const both = pairs.composeBoth(one, other);
      const units = [one, other];
      const [first, second] = units.map((side) => side.data);
      const [cosines, negated] = [[], []];
      for (let n = 0; n < one.rows; n += 1) {
        const at = n * one.stride;
        if (!pairs.hasUnitInputs) [first, second].forEach((side) => normalise(side, at, one.columns));
        cosines.push(dot(first, at, second, at, one.columns));
        negated.push(forms.isNegatedForm(space.spelled(x[start + n]), space.spelled(y[start + n])));
      }
      const ids = [x, y].map((side) => side.subarray(start, start + one.rows));
      this.#scorer.probabilities({ ids, units, both, cosines, negated }, out, start * count);
    });
    if (this.relatesForms) return out;
    for (let n = 0; n < x.length; n += 1) {
      if (forms.isForm(space.spelled(x[n]), space.spelled(y[n]))) out.fill(0, n * count, (n + 1) * count).fill(1, (n + 1) * count - 1, (n + 1) * count);
    }
    return out;
  }

  /** The relation of two ids, its runners-up, and with `top` the pairs that are related alike. */
  relate(x, y, top) {
    const { names } = this;
    const probabilities = this.probabilities(Int32Array.of(x), Int32Array.of(y));
    const order = Array.from(names, (_, k) => k).sort((a, b) => probabilities[b] - probabilities[a]);
    const [best] = order;
    const ranked = order.slice(0, RUNNERS_UP + 1).map((k) => ({ relation: names[k], probability: probabilities[k] }));
    const isClear = probabilities[best] >= this.thresholds[best];
    const relation = isClear ? names[best] : UNCLEAR;
    const isNamed = isClear && relation !== NONE;
    return {
      relation,
      probability: probabilities[best],
      definition: MEANINGS[relation] ?? this.definitions.get(relation).definition,
      others: isClear ? ranked.slice(1) : ranked.slice(0, RUNNERS_UP),
      like: top && isNamed ? this.#pairsLike(x, y, best, top) : [],
    };
  }

  /** Pairs of frequent words that `relate` would give the same name; no word appears twice. */
  #pairsLike(x, y, relation, top) {
    const { space, names } = this;
    const { first, second } = analogousPairs(space, x, y, { among: space.frequentWords, ...LIKE });
    const probabilities = this.probabilities(first, second);
    const share = (n) => probabilities[n * names.length + relation];
    const same = Array.from(first, (_, n) => n).filter((n) => share(n) >= this.thresholds[relation]);
    const [one, other] = [first, second].map((side) => Int32Array.from(same, (n) => side[n]));
    const cosines = pairCosines(space.pairs, [x, y], one, other, "both");
    const scores = cosines.map((cosine, n) => share(same[n]) * cosine);
    return matches(space, one, other, scores, top);
  }

  /** The words in a relation to a word; in any one where `relation` is null. */
  neighbours(word, relation, top, allWords) {
    const { space, names, constants } = this;
    const { pairs, vocabulary } = space;
    if (relation !== null && !this.definitions.has(relation)) {
      const known = names.slice(0, -1).join(", ");
      throw new QuestionError(`relation ${quoted(relation)} is not defined; it must be one of ${known}`);
    }
    const x = space.lookUp(word);
    const own = space.unitWord(x);
    const cosines = Float32Array.from({ length: pairs.words }, (_, id) => pairs.unitDot(id, own));
    const ids = Int32Array.from(topK(cosines, constants.CANDIDATES, space.noAnswers([x], allWords)));
    const probabilities = this.probabilities(ids.map(() => x), ids);
    const count = names.length;
    const chosen = Array.from(ids, (_, n) => (relation === null ? best(probabilities, n * count, count - 1) : names.indexOf(relation)));
    const scores = chosen.map((k, n) => probabilities[n * count + k]);
    const [similarity, frequency] = this.#orderWeights(relation);
    const order = scores.map(
      (score, n) => score * Math.exp(similarity * cosines[ids[n]]) * (ids[n] + 1) ** -frequency,
    );
    return this.#distinct(ids, order, top).map((n) => ({
      word: vocabulary.words[ids[n]],
      relation: names[chosen[n]],
      probability: scores[n],
    }));
  }

  /** How much the cosine and the frequency count in the order of neighbours. */
  #orderWeights(relation) {
    const { SIMILARITY_WEIGHT, FREQUENCY_WEIGHT, SYMMETRIC_SIMILARITY } = this.constants;
    if (relation === null) return [SIMILARITY_WEIGHT, FREQUENCY_WEIGHT];
    const usual = this.definitions.get(relation).symmetric ? SYMMETRIC_SIMILARITY : 0;
    return [usual, FREQUENCY_WEIGHT];
  }

  /** The first of some words in an order, no two of which are forms of one word or share words. */
  #distinct(ids, order, top) {
    if (this.relatesForms) return topK(order, top);
    const { words } = this.space.vocabulary;
    const chosen = [];
    for (const n of topK(order, MOST_FORMS * top)) {
      if (chosen.length === top) break;
      const own = words[ids[n]];
      const isLike = (other) => this.forms.isForm(own, other) || sharesWords(own, other);
      if (!chosen.some((other) => isLike(words[ids[other]]))) chosen.push(n);
    }
    return chosen;
  }
}

/** The best of some pairs, in which no word appears twice. */
export function matches(space, first, second, scores, top) {
  const { words } = space.vocabulary;
  const repeated = repeatedWords(scores, first, second);
  const chosen = topK(scores, top, (n) => repeated.has(n));
  return chosen.map((n) => ({ x: words[first[n]], y: words[second[n]], score: scores[n] }));
}

/** The place of the largest of some numbers, from the first of them. */
function best(values, start, length) {
  let found = 0;
  for (let n = 1; n < length; n += 1) if (values[start + n] > values[start + found]) found = n;
  return found;
}
