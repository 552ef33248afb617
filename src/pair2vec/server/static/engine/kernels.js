/**
 * Matrix products in WebAssembly SIMD, in which nearly all time of an answer is spent. The module
 * is assembled here when it is loaded: less than a kilobyte, whose source is `productBody`.
 *
 * A product goes by tiles of 4 rows and 8 columns, whose sums stay in registers. A weight is packed
 * for that: 8 columns at a time, row by row. A matrix has rows of a multiple of 8 numbers, and room
 * for a multiple of 4 rows; what is beyond its columns is 0.
 */

const TILE_ROWS = 4;
const TILE_COLUMNS = 8;
const UNROLLED = 4;
const FLOAT = 4;
const VECTOR = 16;
const PAGE = 65_536;
const FIRST_PAGES = 1024; // of virtual memory: what is not touched takes none

/** Rows that are computed at once: few enough to stay in the cache. */
export const ROWS_PER_BLOCK = 128;

/** Rows of numbers in the memory of the kernels. */
export class Matrix {
  constructor(kernels, pointer, rows, columns) {
    Object.assign(this, { kernels, pointer, rows, columns, stride: upTo(columns, TILE_COLUMNS) });
  }

  /** All its numbers; to be taken anew after anything is allocated, which may move the memory. */
  get data() {
    const { memory } = this.kernels;
    return new Float32Array(memory.buffer, this.pointer, upTo(this.rows, TILE_ROWS) * this.stride);
  }

  row(index) {
    return this.data.subarray(index * this.stride, index * this.stride + this.columns);
  }

  /** A copy of its numbers, row by row. */
  numbers() {
    const made = new Float32Array(this.rows * this.columns);
    for (let row = 0; row < this.rows; row += 1) made.set(this.row(row), row * this.columns);
    return made;
  }
}

/** The memory that matrices are in, and their products. */
export class Kernels {
  #top = VECTOR;
  #product;

  constructor() {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(moduleBytes()));
    this.memory = exports.memory;
    this.#product = exports.product;
  }

  /** What is allocated by `work` is free again when it returns. */
  scope(work) {
    const mark = this.#top;
    try {
      return work();
    } finally {
      this.#top = mark;
    }
  }

  /** A matrix of zeros. */
  matrix(rows, columns) {
    const size = upTo(rows, TILE_ROWS) * upTo(columns, TILE_COLUMNS);
    return new Matrix(this, this.#allocate(size), rows, columns);
  }

  /** Values of a shape, row by row, as a matrix. */
  matrixOf(values, rows, columns) {
    const made = this.matrix(rows, columns);
    const { data, stride } = made;
    for (let row = 0; row < rows; row += 1) {
      data.set(values.subarray(row * columns, (row + 1) * columns), row * stride);
    }
    return made;
  }

  /** A weight (inputs, outputs), row by row, as `product` takes it. */
  pack(values, inputs, outputs) {
    const depth = upTo(inputs, UNROLLED);
    const panels = Math.ceil(outputs / TILE_COLUMNS);
    const pointer = this.#allocate(depth * panels * TILE_COLUMNS);
    const packed = new Float32Array(this.memory.buffer, pointer, depth * panels * TILE_COLUMNS);
    for (let column = 0; column < outputs; column += 1) {
      const start = Math.floor(column / TILE_COLUMNS) * depth * TILE_COLUMNS + (column % TILE_COLUMNS);
      for (let row = 0; row < inputs; row += 1) packed[start + row * TILE_COLUMNS] = values[row * outputs + column];
    }
    return { pointer, depth, panels, outputs };
  }

  /**
   * a · weight + addend, and 0 for what is negative if `relu`.
   *
   * @param {Matrix} a
   * @param weight Packed.
   * @param {{out?: Matrix, addend?: Matrix, relu?: boolean}} options `addend` has a row for each of
   *   `a`, or one for all; it may be `out`.
   */
  product(a, weight, { out = this.matrix(a.rows, weight.outputs), addend = null, relu = false } = {}) {
    if (!a.rows) return out;
    const added = addend ?? this.matrix(1, weight.outputs);
    const addendStride = added.rows === 1 ? 0 : added.stride * FLOAT;
    const operands = [a.pointer, a.stride * FLOAT, weight.pointer, out.pointer, out.stride * FLOAT];
    const sizes = [a.rows, weight.depth, weight.panels];
    this.#product(...operands, added.pointer, addendStride, ...sizes, relu ? 0 : -Infinity);
    return out;
  }

  /** The pointer to so many zeros. */
  #allocate(floats) {
    const pointer = this.#top;
    this.#top += upTo(floats * FLOAT, VECTOR);
    // Beyond the end of a last row, a tile reads up to eight numbers that count for nothing.
    const missing = this.#top + PAGE - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / PAGE));
    new Float32Array(this.memory.buffer, pointer, floats).fill(0);
    return pointer;
  }
}

/** The next multiple. */
function upTo(value, multiple) {
  return Math.ceil(value / multiple) * multiple;
}

// WebAssembly, as bytes.

const [I32, F32, V128] = [0x7f, 0x7d, 0x7b];

function unsigned(value) {
  const bytes = [];
  for (; value > 127; value >>>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value];
}

function signed(value) {
  const bytes = [];
  for (; value > 63 || value < -64; value >>= 7) bytes.push((value & 127) | 128);
  return [...bytes, value & 127];
}

const list = (items) => [...unsigned(items.length), ...items.flat()];
const name = (text) => list([...new TextEncoder().encode(text)]);
const section = (id, items) => [id, ...list(list(items))];

const add = 0x6a;
const sub = 0x6b;
const mul = 0x6c;
const lessThan = 0x49;
const int = (value) => [0x41, ...signed(value)];
const memory = (code, offset) => [0xfd, code, 2, ...unsigned(offset)];
const load = (offset = 0) => memory(0x00, offset);
const loadSplat = (offset = 0) => memory(0x09, offset);
const store = (offset = 0) => memory(0x0b, offset);
const [splat, addFloats, mulFloats, maxFloats] = [
  [0xfd, 0x13],
  [0xfd, 0xe4, 1],
  [0xfd, 0xe6, 1],
  [0xfd, 0xeb, 1],
];
/** Repeats its body while what it leaves on the stack is not 0. */
const loop = (...body) => [0x03, 0x40, ...body.flat(), 0x0d, 0, 0x0b];

function moduleBytes() {
  const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
  const { parameters, locals, body } = productBody();
  const declared = locals.map((type) => [1, type]);
  const code = [...list(declared), ...body, 0x0b];
  return new Uint8Array([
    ...header,
    ...section(1, [[0x60, ...list(parameters), ...list([])]]),
    ...section(3, [[0]]),
    ...section(5, [[0, ...unsigned(FIRST_PAGES)]]),
    ...section(7, [[...name("memory"), 2, 0], [...name("product"), 0, 0]]),
    ...section(10, [list(code)]),
  ]);
}

/** Strides are in bytes; `depth` is a multiple of 4; there is at least one row and one panel. */
function productBody() {
  const types = [];
  const local = (type) => {
    const index = types.push(type) - 1;
    return { get: [0x20, ...unsigned(index)], set: [0x21, ...unsigned(index)], tee: [0x22, ...unsigned(index)] };
  };
  const many = (count, type) => Array.from({ length: count }, () => local(type));
  const [a, aStride, b, out, outStride, addend, addendStride, rows, depth, panels] = many(10, I32);
  const floor = local(F32);
  const parameters = types.length;
  const [row, step, panel, outRow, addendRow, nextRow, ...inputs] = many(6 + TILE_ROWS, I32);
  const vectors = TILE_COLUMNS * FLOAT / VECTOR;
  const sums = Array.from({ length: TILE_ROWS }, () => many(vectors, V128));
  const columns = many(vectors, V128);
  const [factor, least] = many(2, V128);

  const advance = (which, by) => [...which.get, ...by, add, ...which.set];
  const eachTile = (make) => sums.flatMap((line, n) => line.flatMap((sum, v) => make(sum, n, v)));
  const startTile = [
    ...nextRow.get, ...inputs[0].set,
    ...inputs.slice(1).flatMap((input, n) => [...inputs[n].get, ...aStride.get, add, ...input.set]),
    ...eachTile((sum, n, v) => [
      ...addendRow.get, ...int(n), ...addendStride.get, mul, add, ...load(v * VECTOR), ...sum.set,
    ]),
    ...b.get, ...panel.set, ...depth.get, ...step.set,
  ];
  const oneStep = (n) => [
    ...columns.flatMap((column, v) => [...panel.get, ...load(n * TILE_COLUMNS * FLOAT + v * VECTOR), ...column.set]),
    ...inputs.flatMap((input, i) => [
      ...input.get, ...loadSplat(n * FLOAT), ...factor.set,
      ...sums[i].flatMap((sum, v) => [...sum.get, ...factor.get, ...columns[v].get, ...mulFloats, ...addFloats, ...sum.set]),
    ]),
  ];
  const sumUp = loop(
    Array.from({ length: UNROLLED }, (_, n) => oneStep(n)).flat(),
    advance(panel, int(UNROLLED * TILE_COLUMNS * FLOAT)),
    inputs.flatMap((input) => advance(input, int(UNROLLED * FLOAT))),
    [...step.get, ...int(UNROLLED), sub, ...step.tee],
  );
  const endTile = eachTile((sum, n, v) => [
    ...outRow.get, ...int(n), ...outStride.get, mul, add, ...sum.get, ...least.get, ...maxFloats, ...store(v * VECTOR),
  ]);
  const body = [
    ...floor.get, ...splat, ...least.set,
    ...loop(
      [...a.get, ...nextRow.set, ...out.get, ...outRow.set, ...addend.get, ...addendRow.set, ...int(0), ...row.set],
      loop(
        startTile, sumUp, endTile,
        advance(nextRow, [...aStride.get, ...int(TILE_ROWS), mul]),
        advance(outRow, [...outStride.get, ...int(TILE_ROWS), mul]),
        advance(addendRow, [...addendStride.get, ...int(TILE_ROWS), mul]),
        [...row.get, ...int(TILE_ROWS), add, ...row.tee, ...rows.get, lessThan],
      ),
      // The next eight columns.
      advance(b, [...depth.get, ...int(TILE_COLUMNS * FLOAT), mul]),
      advance(out, int(TILE_COLUMNS * FLOAT)),
      advance(addend, int(TILE_COLUMNS * FLOAT)),
      [...panels.get, ...int(1), sub, 0x22, ...unsigned(9)],
    ),
  ];
  return { parameters: types.slice(0, parameters), locals: types.slice(parameters), body };
}
