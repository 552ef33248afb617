/** Pairs as arrows in the plane of their relation, as `query/plane.py` has it. */

import { offsetCosines, pairCosines } from "./search.js";
import { dot, safeNorm } from "./tensors.js";
import { QuestionError } from "./text.js";

/** So often is the Gram matrix squared: what is left is its first eigenvector. */
const SQUARINGS = 40;
const [LEAST_ARROWS, MOST_ARROWS] = [2, 8];
const LEAST_SHARE = 1e-9;
const LONG = 0.45;
const SMALLEST_NORM = 1e-8;

/**
 * @param {string[]} first The words x, as they are typed.
 * @param {string[]} second The words y.
 */
export function pairPlane(space, first, second) {
  const count = first.length;
  if (count !== second.length) {
    throw new QuestionError(`x has ${count} words and y has ${second.length}: a pair has one of each`);
  }
  if (count < LEAST_ARROWS) {
    throw new QuestionError(`a plane shows ${LEAST_ARROWS} to ${MOST_ARROWS} pairs; ${count} are given`);
  }
  // Pair by pair, as errors and what is composed are named in that order.
  const found = first.map((word, n) => [space.lookUp(word), space.lookUp(second[n])]);
  const [x, y] = [0, 1].map((side) => Int32Array.from(found, (pair) => pair[side]));
  const ids = [...x, ...y];
  const words = ids.map((id) => Float64Array.from(space.unitWord(id)));
  const { axes, shares } = planeOfOffsets(count, words);
  const middle = meanOf(words);
  const places = words.map((word) => axes.map((axis) => product(axis, word) - product(axis, middle)));
  const pairs = (n) => pairCosines(space.whitenedPairs, [x[n], y[n]], x, y, "both");
  const offsets = (n) => offsetCosines(space, [x[n], y[n]], x, y);
  const arrows = first.map((word, n) => ({
    x: word,
    y: second[n],
    start: places[n],
    end: places[count + n],
    pair_cosine: withOthers(pairs(n), n),
    offset_cosine: withOthers(offsets(n), n),
  }));
  return { arrows, shares };
}

/** Two axes of unit norm and the shares of them; an axis of no share is zero. */
function planeOfOffsets(count, words) {
  const offsets = words.slice(count).map((word, n) => word.map((value, d) => value - words[n][d]));
  const mean = meanOf(offsets);
  const norm = safeNorm(mean, 0, mean.length);
  const first = mean.map((value) => value / norm);
  const along = offsets.map((offset) => product(offset, first));
  const rest = offsets.map((offset, n) => offset.map((value, d) => value - along[n] * first[d]));
  const { vector, variance } = firstComponent(rest.map((one) => rest.map((other) => product(one, other))));
  const total = Math.max(offsets.reduce((sum, offset) => sum + product(offset, offset), 0), SMALLEST_NORM);
  const isFlat = variance / total < LEAST_SHARE;
  const long = LONG * Math.max(...vector.map(Math.abs));
  const up = Math.sign(vector.find((value) => Math.abs(value) >= long));
  const scale = isFlat ? 0 : up / Math.sqrt(variance);
  const second = first.map((_, d) => scale * rest.reduce((sum, offset, n) => sum + vector[n] * offset[d], 0));
  return { axes: [first, second], shares: [product(along, along) / total, isFlat ? 0 : variance / total] };
}

/** The eigenvector of the largest eigenvalue of a symmetric matrix, and that. */
function firstComponent(gram) {
  let power = gram;
  for (let n = 0; n < SQUARINGS; n += 1) {
    const trace = power.reduce((sum, row, k) => sum + row[k], 0) || 1;
    const scaled = power.map((row) => row.map((value) => value / trace));
    power = scaled.map((row) => scaled.map((column) => product(row, column)));
  }
  const column = power.reduce((best, row, k) => (row[k] > power[best][best] ? k : best), 0);
  const norm = Math.sqrt(product(power[column], power[column])) || 1;
  const vector = power[column].map((value) => value / norm);
  return { vector, variance: product(vector, gram.map((row) => product(row, vector))) };
}

function meanOf(vectors) {
  return vectors[0].map((_, d) => vectors.reduce((sum, vector) => sum + vector[d], 0) / vectors.length);
}

function product(one, other) {
  return dot(one, 0, other, 0, one.length);
}

/** Of cosines with all pairs, the mean of those with the others. */
function withOthers(cosines, own) {
  const others = cosines.filter((_, n) => n !== own);
  return others.reduce((sum, cosine) => sum + cosine, 0) / others.length;
}
