/** The tensors file of a model: named arrays in the safetensors format, perhaps in fewer bits. */

const TYPES = {
  F32: Float32Array,
  F16: Uint16Array,
  I8: Int8Array,
  U8: Uint8Array,
  I32: Int32Array,
  I64: BigInt64Array,
};
const METADATA = "__metadata__";
const SMALLEST_NORM = Math.fround(1e-8);

/** Numbers of 16 bits as those of 32, by their bits. */
let halves = null;

export class Tensors {
  #header;
  #content;

  /** @param {ArrayBuffer} buffer The file. */
  constructor(buffer) {
    const length = Number(new DataView(buffer).getBigUint64(0, true));
    this.#header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
    delete this.#header[METADATA];
    this.#content = { buffer, start: 8 + length };
  }

  has(name) {
    return name in this.#header;
  }

  shape(name) {
    return this.#slot(name).shape;
  }

  /** The numbers as they are stored. */
  stored(name) {
    const { dtype, data_offsets: [begin, end] } = this.#slot(name);
    const { buffer, start } = this.#content;
    const Type = TYPES[dtype];
    if (!Type) throw new Error(`tensor ${name}: its type ${dtype} is not read here`);
    const isAligned = (start + begin) % Type.BYTES_PER_ELEMENT === 0;
    if (!isAligned) return new Type(buffer.slice(start + begin, start + end));
    return new Type(buffer, start + begin, (end - begin) / Type.BYTES_PER_ELEMENT);
  }

  /** A table of which some rows are needed. */
  rows(name) {
    const [count, columns = 1] = this.shape(name);
    const values = this.stored(name);
    if (values instanceof Int8Array) return new ByteRows(values, this.stored(`${name}.scale`), count, columns);
    if (values instanceof Uint16Array) return new HalfRows(values, count, columns);
    return new FloatRows(values, count, columns);
  }

  /** A whole array in 32 bits, row by row. */
  array(name) {
    const rows = this.rows(name);
    if (rows instanceof FloatRows) return rows.values;
    const whole = new Float32Array(rows.length * rows.columns);
    for (let id = 0; id < rows.length; id += 1) rows.read(id, whole, id * rows.columns);
    return whole;
  }

  #slot(name) {
    const slot = this.#header[name];
    if (!slot) throw new Error(`the model has no tensor ${name}`);
    return slot;
  }
}

/** A table whose rows become numbers of 32 bits when they are read. */
class Rows {
  /** Rows of ids from `length` on, which are in no search. */
  added = [];

  constructor(values, length, columns) {
    Object.assign(this, { values, length, columns });
  }

  /** Write the row of an id, which may be an added one, to `out` from `at` on. */
  readAny(id, out, at) {
    if (id < this.length) this.read(id, out, at);
    else out.set(this.added[id - this.length], at);
  }

  /** Of each row the number that it is divided by to have unit norm; computed once. */
  get norms() {
    this.knownNorms ??= Float32Array.from({ length: this.length }, (_, id) => {
      const row = new Float32Array(this.columns);
      this.read(id, row, 0);
      return safeNorm(row, 0, this.columns);
    });
    return this.knownNorms;
  }
}

class FloatRows extends Rows {
  read(id, out, at) {
    out.set(this.values.subarray(id * this.columns, (id + 1) * this.columns), at);
  }

  /** The dot product of a row with the vector that begins at `at`. */
  dot(id, vectors, at) {
    return dot(this.values, id * this.columns, vectors, at, this.columns);
  }
}

class HalfRows extends Rows {
  constructor(...table) {
    super(...table);
    halves ??= Float32Array.from({ length: 1 << 16 }, (_, bits) => half(bits));
  }

  read(id, out, at) {
    const { values, columns } = this;
    for (let n = 0; n < columns; n += 1) out[at + n] = halves[values[id * columns + n]];
  }

  dot(id, vectors, at) {
    const { values, columns } = this;
    let sum = 0;
    for (let n = 0; n < columns; n += 1) sum += halves[values[id * columns + n]] * vectors[at + n];
    return sum;
  }
}

/** Each row is its values times its scale. */
class ByteRows extends Rows {
  constructor(values, scale, length, columns) {
    super(values, length, columns);
    this.scale = scale;
  }

  read(id, out, at) {
    const { values, columns } = this;
    const scale = this.scale[id];
    const start = id * columns;
    for (let n = 0; n < columns; n += 1) out[at + n] = values[start + n] * scale;
  }

  dot(id, vectors, at) {
    return dot(this.values, id * this.columns, vectors, at, this.columns) * this.scale[id];
  }

  get norms() {
    if (this.knownNorms) return this.knownNorms;
    const { values, columns, scale } = this;
    this.knownNorms = Float32Array.from(scale, (factor, id) => {
      let sum = 0; // of whole numbers, exact
      for (let n = id * columns; n < (id + 1) * columns; n += 1) sum += values[n] * values[n];
      return Math.max(Math.sqrt(sum) * factor, SMALLEST_NORM);
    });
    return this.knownNorms;
  }
}

export function dot(a, from, b, at, length) {
  let [first, second, third, fourth] = [0, 0, 0, 0];
  let n = 0;
  for (; n + 3 < length; n += 4) {
    first += a[from + n] * b[at + n];
    second += a[from + n + 1] * b[at + n + 1];
    third += a[from + n + 2] * b[at + n + 2];
    fourth += a[from + n + 3] * b[at + n + 3];
  }
  for (; n < length; n += 1) first += a[from + n] * b[at + n];
  return first + second + third + fourth;
}

/** The norm to divide by, never 0. */
export function safeNorm(values, at, length) {
  return Math.max(Math.sqrt(dot(values, at, values, at, length)), SMALLEST_NORM);
}

/** Divide a vector by its norm, in place. */
export function normalise(values, at = 0, length = values.length) {
  const norm = safeNorm(values, at, length);
  for (let n = at; n < at + length; n += 1) values[n] /= norm;
  return values;
}

/** Scores as probabilities. */
export function softmax(scores) {
  const most = Math.max(...scores);
  const exponentials = Array.from(scores, (score) => Math.exp(score - most));
  const total = exponentials.reduce((sum, value) => sum + value);
  return exponentials.map((value) => value / total);
}

/** The number that 16 bits stand for. */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}
