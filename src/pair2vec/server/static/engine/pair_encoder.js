/**
 * R(x, y): for pairs of words, and for one word with all others.
 *
 * Shapes: V vocabulary, N pairs or words, D dimension.
 */

import { ROWS_PER_BLOCK } from "./kernels.js";
import { dot, normalise, safeNorm } from "./tensors.js";

/** outputs = inputs · weight + bias. */
export class Layer {
  /**
   * @param {Float32Array} weight (inputs, outputs), row by row.
   * @param {Float32Array} bias (outputs,)
   */
  constructor(kernels, weight, bias) {
    Object.assign(this, { kernels, weight, bias, outputs: bias.length, inputs: weight.length / bias.length });
    this.packed = kernels.pack(weight, this.inputs, this.outputs);
    this.biasRow = kernels.matrixOf(bias, 1, this.outputs);
  }

  /** From a weight as models save it, (outputs, inputs). */
  static saved(kernels, tensors, name) {
    const bias = tensors.array(`${name}.bias`);
    const weight = tensors.array(`${name}.weight`);
    return new Layer(kernels, transposed(weight, bias.length, weight.length / bias.length), bias);
  }

  /** From a weight as `engine.safetensors` has it, (inputs, outputs). */
  static derived(kernels, tensors, name) {
    return new Layer(kernels, tensors.array(`${name}.weight`), tensors.array(`${name}.bias`));
  }

  apply(inputs, options = {}) {
    return this.kernels.product(inputs, this.packed, { addend: this.biasRow, ...options });
  }

  /** Both layers as one: there is no non-linearity between them. */
  then(following) {
    const { kernels, inputs, outputs } = this;
    const weight = kernels.product(kernels.matrixOf(this.weight, inputs, outputs), following.packed);
    return new Layer(kernels, weight.numbers(), following.apply(this.biasRow).numbers());
  }

  /** The gradients by the inputs from those by the outputs. */
  back(gradients) {
    const { kernels, weight, inputs, outputs } = this;
    return kernels.product(gradients, kernels.pack(transposed(weight, inputs, outputs), outputs, inputs));
  }
}

/** R for the ids of a vocabulary. */
class PairNetwork {
  /** Whether word vectors are normalised before they are composed. */
  hasUnitInputs = true;

  constructor(kernels, rows) {
    Object.assign(this, { kernels, rows, words: rows.length, dimension: rows.columns });
  }

  /** The word vectors that R composes, (N, D). */
  inputs(ids) {
    return this.#read(ids, this.hasUnitInputs);
  }

  /** The same of unit norm. */
  unitInputs(ids) {
    return this.#read(ids, true);
  }

  #read(ids, isUnit) {
    const { rows, dimension } = this;
    const made = this.kernels.matrix(ids.length, dimension);
    const { data, stride } = made;
    for (let n = 0; n < ids.length; n += 1) {
      rows.readAny(ids[n], data, n * stride);
      if (isUnit) normalise(data, n * stride, dimension);
    }
    return made;
  }

  /** The dot product of a word's vector, of unit norm, with the vector that begins at `at`. */
  unitDot(id, vectors, at = 0) {
    return this.rows.dot(id, vectors, at) / this.rows.norms[id];
  }

  /** The same of the vector that R composes. */
  inputDot(id, vectors, at = 0) {
    return this.rows.dot(id, vectors, at) / (this.hasUnitInputs ? this.rows.norms[id] : 1);
  }

  /** R(x, y) and R(y, x) of pairs of inputs. */
  composeBoth(x, y) {
    return [this.compose(x, y), this.compose(y, x)];
  }

  /** R with a word fixed in a role, "x" or "y". */
  conditionedOn(word, role) {
    return this.withInput(this.inputs([word]).row(0).slice(), role);
  }
}

/** R(x, y) = MLP(x, y, x∘y) on normalised words. */
class MlpPairNetwork extends PairNetwork {
  /** @param {Layer[]} first The parts of the first layer: of x, of y, and of x∘y, with the bias. */
  constructor(kernels, rows, first, others) {
    super(kernels, rows);
    [this.x, this.y, this.product] = first;
    this.others = others;
  }

  static open(kernels, tensors, layers) {
    const rows = tensors.rows("pair.words");
    const { weight, bias } = Layer.saved(kernels, tensors, "pair.first");
    const size = weight.length / 3;
    const parts = [0, 1, 2].map((n) => new Layer(kernels, weight.slice(n * size, (n + 1) * size), bias));
    const others = Array.from({ length: layers - 1 }, (_, n) => Layer.saved(kernels, tensors, `pair.others.${n}`));
    return new MlpPairNetwork(kernels, rows, parts, others);
  }

  compose(x, y) {
    return this.#compose(x, y, this.product.apply(multiplied(x, y)));
  }

  /** As for each direction, with the product x∘y multiplied once. */
  composeBoth(x, y) {
    const shared = this.product.apply(multiplied(x, y));
    return [this.#compose(x, y, shared), this.#compose(y, x, shared)];
  }

  #compose(x, y, shared) {
    const out = this.kernels.product(x, this.x.packed, { addend: shared });
    this.kernels.product(y, this.y.packed, { out, addend: out, relu: this.others.length > 0 });
    return chain(this.others, out);
  }

  /** The input becomes part of the first layer: W₁[x; y; x∘y] = (W_y + W_p·diag x) y + Wₓx. */
  withInput(vector, role) {
    const [own, other] = role === "x" ? [this.x, this.y] : [this.y, this.x];
    const { outputs } = this.product;
    const weight = other.weight.slice();
    const bias = Float64Array.from(this.product.bias);
    for (let n = 0; n < weight.length; n += 1) {
      const value = vector[Math.floor(n / outputs)];
      weight[n] += this.product.weight[n] * value;
      bias[n % outputs] += own.weight[n] * value;
    }
    const first = new Layer(this.kernels, weight, Float32Array.from(bias));
    return new ConditionalPairNetwork(this, [first, ...this.others]);
  }

  /** R with one more layer, which is folded into the last one. */
  followedBy(layer) {
    const { kernels, rows, others } = this;
    const first = [this.x, this.y, this.product];
    if (!others.length) return new MlpPairNetwork(kernels, rows, first.map((part) => part.then(layer)), []);
    return new MlpPairNetwork(kernels, rows, first, [...others.slice(0, -1), others.at(-1).then(layer)]);
  }
}

/** R(x, y) = x∘y on normalised words, and a linear layer: at first the identity. */
class MultiplyPairNetwork extends PairNetwork {
  constructor(kernels, rows, output = diagonal(kernels, new Float32Array(rows.columns).fill(1))) {
    super(kernels, rows);
    this.output = output;
  }

  compose(x, y) {
    return this.output.apply(multiplied(x, y));
  }

  withInput(vector) {
    const product = diagonal(this.kernels, vector);
    return new ConditionalPairNetwork(this, [product.then(this.output)]);
  }

  followedBy(layer) {
    return new MultiplyPairNetwork(this.kernels, this.rows, this.output.then(layer));
  }
}

/** R(x, y) = (x − y) / ‖x − y‖. */
class DifferencePairNetwork extends PairNetwork {
  hasUnitInputs = false;

  compose(x, y) {
    const made = this.kernels.matrix(x.rows, x.columns);
    const [one, other, out] = [x.data, y.data, made.data];
    for (let n = 0; n < x.rows * x.stride; n += 1) out[n] = one[n] - other[n];
    for (let n = 0; n < x.rows; n += 1) normalise(out, n * made.stride, made.columns);
    return made;
  }

  withInput(vector, role) {
    const sign = role === "x" ? -1 : 1;
    const signs = new Float32Array(this.dimension).fill(sign);
    const bias = vector.map((value) => -sign * value);
    const { weight } = diagonal(this.kernels, signs);
    return new ConditionalPairNetwork(this, [new Layer(this.kernels, weight, bias)], true);
  }

  /** What it is compared by is the vector itself: its directions are those of the words. */
  followedBy() {
    return this;
  }
}

/** R with the composition of the model's recipe. */
export function openPairNetwork(kernels, tensors, { composition, layers }) {
  if (composition === "mlp") return MlpPairNetwork.open(kernels, tensors, layers);
  const rows = tensors.rows("pair.words");
  if (composition === "multiply") return new MultiplyPairNetwork(kernels, rows);
  if (composition === "difference") return new DifferencePairNetwork(kernels, rows);
  throw new Error(`composition ${composition} is not known here`);
}

/**
 * A scalar function of R that approximate scores are made for: its dot product with a target, or
 * the cosine with a target of unit norm.
 *
 * @typedef {{target: Float32Array, isCosine: boolean}} Readout
 */

/** R with one of its words fixed, R(x, ·) or R(·, y): a network of the other word's input. */
class ConditionalPairNetwork {
  /** @param {Layer[]} layers With ReLU between. */
  constructor(pairs, layers, isNormalised = false) {
    Object.assign(this, { pairs, layers, isNormalised });
  }

  /** The readout of R for each word: (N,). */
  scores(ids, { target, isCosine }) {
    const { pairs, layers } = this;
    const scores = new Float32Array(ids.length);
    const last = layers.at(-1);
    // A dot product makes the last layer one of a single output.
    const isFolded = !isCosine && !this.isNormalised;
    const folded = isFolded ? last.back(pairs.kernels.matrixOf(target, 1, target.length)).numbers() : null;
    const constant = isFolded ? dot(last.bias, 0, target, 0, target.length) : 0;
    for (let start = 0; start < ids.length; start += ROWS_PER_BLOCK) {
      pairs.kernels.scope(() => {
        const inputs = pairs.inputs(ids.subarray(start, start + ROWS_PER_BLOCK));
        const hidden = isFolded ? chain(layers.slice(0, -1), inputs, true) : chain(layers, inputs);
        const { data, stride, columns } = hidden;
        for (let n = 0; n < inputs.rows; n += 1) {
          scores[start + n] = isFolded
            ? dot(data, n * stride, folded, 0, columns) + constant
            : dot(data, n * stride, target, 0, columns) / safeNorm(data, n * stride, columns);
        }
      });
    }
    return scores;
  }

  /** The readout at some inputs, and its gradient there: backpropagation. */
  linearise(inputs, { target, isCosine }) {
    const { layers } = this;
    const hidden = [];
    let activations = inputs;
    for (const layer of layers.slice(0, -1)) {
      activations = layer.apply(activations, { relu: true });
      hidden.push(activations);
    }
    const vectors = layers.at(-1).apply(activations);
    const read = this.pairs.kernels.matrix(inputs.rows, target.length);
    const values = new Float32Array(inputs.rows);
    const [from, to] = [vectors.data, read.data];
    for (let n = 0; n < inputs.rows; n += 1) {
      const at = n * vectors.stride;
      const norm = isCosine || this.isNormalised ? safeNorm(from, at, target.length) : 1;
      values[n] = dot(from, at, target, 0, target.length) / norm;
      for (let d = 0; d < target.length; d += 1) {
        const along = norm === 1 ? 0 : (values[n] * from[at + d]) / norm;
        to[at + d] = (target[d] - along) / norm;
      }
    }
    let gradients = layers.at(-1).back(read);
    for (let depth = layers.length - 2; depth >= 0; depth -= 1) {
      const [active, gradient] = [hidden[depth].data, gradients.data];
      for (let n = 0; n < gradient.length; n += 1) if (!(active[n] > 0)) gradient[n] = 0;
      gradients = layers[depth].back(gradients);
    }
    return { values, gradients };
  }
}

/** What layers with ReLU between make of inputs; with one behind the last if `isInner`. */
function chain(layers, inputs, isInner = false) {
  return layers.reduce((hidden, layer, n) => layer.apply(hidden, { relu: isInner || n < layers.length - 1 }), inputs);
}

function multiplied(x, y) {
  const made = x.kernels.matrix(x.rows, x.columns);
  const [one, other, out] = [x.data, y.data, made.data];
  for (let n = 0; n < x.rows * x.stride; n += 1) out[n] = one[n] * other[n];
  return made;
}

function diagonal(kernels, values) {
  const size = values.length;
  const weight = new Float32Array(size * size);
  for (let n = 0; n < size; n += 1) weight[n * size + n] = values[n];
  return new Layer(kernels, weight, new Float32Array(size));
}

function transposed(values, rows, columns) {
  const made = new Float32Array(values.length);
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) made[column * rows + row] = values[row * columns + column];
  }
  return made;
}

/**
 * The inputs of pairs of ids, a block at a time; what is allocated for one is free again after it.
 *
 * @param {Int32Array} x
 * @param {Int32Array} y
 * @param {(one: Matrix, other: Matrix, start: number) => void} work
 */
export function eachBlock(pairs, x, y, work) {
  for (let start = 0; start < x.length; start += ROWS_PER_BLOCK) {
    pairs.kernels.scope(() => {
      const ends = [start, start + ROWS_PER_BLOCK];
      work(pairs.inputs(x.subarray(...ends)), pairs.inputs(y.subarray(...ends)), start);
    });
  }
}

/**
 * The vectors of one pair of inputs with unit norm, by direction: R(x, y), R(y, x) or both.
 *
 * @returns {Float32Array[]}
 */
export function directedVectors(pairs, x, y, direction) {
  const sides = { both: [[x, y], [y, x]], forward: [[x, y]], backward: [[y, x]] }[direction];
  return sides.map((side) => normalise(pairs.compose(...side).row(0).slice()));
}

/** R of one pair. */
export function vectorOf(pairs, x, y) {
  return pairs.compose(pairs.inputs([x]), pairs.inputs([y])).row(0).slice();
}

/** The role that x has in each part of a pair's vector. */
export function roles(direction) {
  return { both: ["x", "y"], forward: ["x"], backward: ["y"] }[direction];
}
