/**
 * Relations of a model without a relation head, by regressions on features of the pair, which
 * Python has fitted and calibrated (`relations/features.py`, `relations/regression.py`).
 *
 * Shapes: N pairs, E examples, K relations, D dimension.
 */

import { Layer, eachBlock } from "./pair_encoder.js";
import { dot, normalise, softmax } from "./tensors.js";

export class FittedRelations {
  /**
   * @param {Tensors} tensors Of `engine.safetensors`.
   * @param {number} nearest How many examples of each relation a pair is compared with.
   */
  constructor(space, tensors, nearest) {
    const { kernels, pairs } = space;
    Object.assign(this, { space, nearest });
    [this.patterns, this.calibration] = ["patterns", "calibration"].map((name) =>
      Layer.derived(kernels, tensors, `relations.${name}`),
    );
    [this.mean, this.offsets] = ["mean", "offsets"].map((name) => tensors.array(`relations.${name}`));
    const [inputs, outputs] = tensors.shape("relations.weight");
    this.weight = kernels.pack(tensors.array("relations.weight"), inputs, outputs);
    this.relations = this.patterns.outputs;
    const all = tensors.stored("relations.examples");
    const count = all.length / 3;
    const [x, y, relation] = [0, 1, 2].map((n) => all.subarray(n * count, (n + 1) * count));
    this.examples = { x, y, relation };
    const vectors = new Float32Array(2 * pairs.dimension * count); // a column each
    eachBlock(pairs, x, y, (one, other, start) => {
      this.#whitened(pairs.composeBoth(one, other)).forEach((side, half) => {
        for (let n = 0; n < side.rows; n += 1) {
          side.row(n).forEach((value, d) => (vectors[(half * side.columns + d) * count + start + n] = value));
        }
      });
    });
    this.exampleVectors = kernels.pack(vectors, 2 * pairs.dimension, count);
  }

  /**
   * Write the probabilities of pairs to `out` from `at` on.
   *
   * @param {import("./relations.js").PairBlock} block
   */
  probabilities(block, out, at) {
    const scores = this.calibration.apply(this.space.kernels.product(this.#features(block), this.weight));
    for (let n = 0; n < scores.rows; n += 1) out.set(softmax(scores.row(n)), at + n * scores.columns);
  }

  /** The two vectors of each pair, the numbers for each relation, and those of the words: less their mean. */
  #features({ ids: [x, y], units: [first, second], both, cosines, negated }) {
    const { kernels, pairs: { dimension } } = this.space;
    const features = kernels.matrix(x.length, this.mean.length);
    // As they are; then they are whitened.
    const patternScores = this.patterns.apply(sideBySide(kernels, both));
    const vectors = sideBySide(kernels, this.#whitened(both));
    const alike = kernels.product(vectors, this.exampleVectors);
    for (let n = 0; n < x.length; n += 1) {
      const [one, other] = [first.row(n), second.row(n)];
      const ofWords = [cosines[n], negated[n] ? cosines[n] : 0];
      const parts = [
        vectors.row(n),
        this.#exampleSimilarity(alike.row(n), x[n], y[n]),
        patternScores.row(n),
        this.#offsetSimilarity(one, other),
        ofWords,
        one,
        other,
        one.map((value, d) => value * other[d]),
      ];
      const row = features.row(n);
      let start = 0;
      for (const part of parts) {
        row.set(part, start);
        start += part.length;
      }
      for (let d = 0; d < row.length; d += 1) row[d] -= this.mean[d];
    }
    return features;
  }

  /** The mean cosine with the nearest examples of each relation; not with those that share a word. */
  #exampleSimilarity(products, x, y) {
    const { nearest, examples } = this;
    const best = new Float32Array(this.relations * nearest).fill(-Infinity);
    for (let n = 0; n < products.length; n += 1) {
      const [a, b] = [examples.x[n], examples.y[n]];
      let value = a === x || a === y || b === x || b === y ? -1 : products[n] / 2;
      const start = examples.relation[n] * nearest;
      for (let place = start; place < start + nearest; place += 1) {
        const other = best[place];
        if (value > other) {
          best[place] = value;
          value = other;
        }
      }
    }
    return Array.from({ length: this.relations }, (_, k) => {
      const found = best.subarray(k * nearest, (k + 1) * nearest).filter((value) => value > -Infinity);
      return found.length ? found.reduce((sum, value) => sum + value) / found.length : 0;
    });
  }

  /** The cosine of y with x plus the mean offset of each relation. */
  #offsetSimilarity(first, second) {
    const size = first.length;
    return Array.from({ length: this.relations }, (_, k) => {
      const expected = first.map((value, d) => value + this.offsets[k * size + d]);
      return dot(normalise(expected), 0, second, 0, size);
    });
  }

  /** Vectors R as pairs are compared by them, of unit norm; where nothing whitens them, in place. */
  #whitened(sides) {
    const { whitening } = this.space;
    return sides.map((side) => {
      const made = whitening ? whitening.apply(side) : side;
      const { data, stride, columns } = made;
      for (let n = 0; n < made.rows; n += 1) normalise(data, n * stride, columns);
      return made;
    });
  }
}

/** Rows of two matrices as one. */
function sideBySide(kernels, [one, other]) {
  const made = kernels.matrix(one.rows, one.columns + other.columns);
  for (let n = 0; n < one.rows; n += 1) {
    const row = made.row(n);
    row.set(one.row(n));
    row.set(other.row(n), one.columns);
  }
  return made;
}
