/**
 * Search: the words and pairs with the best scores.
 *
 * An exact search scores the whole vocabulary. A shortlist is chosen by approximate scores: the
 * score is linearised at the centroid of each cluster of words, which gives every word of the
 * cluster its approximate score by one dot product; the best of these are then scored exactly.
 */

import { ROWS_PER_BLOCK } from "./kernels.js";
import { directedVectors, eachBlock, roles } from "./pair_encoder.js";
import { dot, normalise, safeNorm } from "./tensors.js";
import { SPECIAL } from "./vocabulary.js";

/** The best of many scores, which are offered one by one. */
export class Best {
  #count;
  #entries = [];
  #least = -Infinity;

  constructor(count) {
    this.#count = count;
  }

  /** Of equal scores the one that is offered first is better. */
  offer(score, index) {
    if (!(score > this.#least) || score === Infinity) return;
    this.#entries.push({ score, index });
    if (this.#entries.length >= 4 * this.#count + 64) this.#cut();
  }

  /** The indices, best first. */
  indices() {
    this.#cut();
    return this.#entries.map((entry) => entry.index);
  }

  #cut() {
    this.#entries.sort((a, b) => b.score - a.score); // stable
    this.#entries.length = Math.min(this.#entries.length, this.#count);
    if (this.#entries.length === this.#count) this.#least = this.#entries.at(-1)?.score ?? Infinity;
  }
}

/**
 * The indices of the highest scores, best first.
 *
 * @param {ArrayLike<number>} scores
 * @param {(index: number) => boolean} isLeftOut
 */
export function topK(scores, count, isLeftOut = () => false) {
  const best = new Best(count);
  for (let n = 0; n < scores.length; n += 1) if (!isLeftOut(n)) best.offer(scores[n], n);
  return best.indices();
}

/** A vocabulary in clusters, each with its centroid. */
class WordClusters {
  /** @param tensors With the cluster of each word and the centroids. */
  constructor(space, tensors) {
    this.pairs = space.pairs;
    this.cluster = tensors.stored("clusters.of_words");
    const [count, dimension] = tensors.shape("clusters.centroids");
    this.centroids = space.kernels.matrixOf(tensors.array("clusters.centroids"), count, dimension);
  }

  /** A function of R for each word, by its linearisation at the word's centroid: (V,). */
  approximateScores(network, readout) {
    const { pairs, cluster, centroids } = this;
    const { values, gradients } = network.linearise(centroids, readout);
    const { data, stride } = gradients;
    const intercepts = values.map((value, k) => value - dot(centroids.data, k * stride, data, k * stride, stride));
    return Float32Array.from(cluster, (k, id) => pairs.inputDot(id, data, k * stride) + intercepts[k]);
  }
}

/** R·C + similarity·cos(x, y) + prior·log p(word), for the words of one slot of a pattern. */
class SlotScorer {
  constructor(space, word, role, context, { similarity, prior }, logFrequencies) {
    this.pairs = space.pairs;
    this.network = space.pairs.conditionedOn(word, role);
    this.readout = { target: context, isCosine: false };
    this.similar = space.unitWord(word).map((value) => similarity * value);
    this.logPrior = logFrequencies.map((value) => prior * value);
  }

  scores(ids) {
    return this.network.scores(ids, this.readout).map((score, n) => score + this.#ofWord(ids[n]));
  }

  approximateScores(clusters) {
    return clusters.approximateScores(this.network, this.readout).map((score, id) => score + this.#ofWord(id));
  }

  /** What does not depend on the pattern. */
  #ofWord(id) {
    return this.pairs.unitDot(id, this.similar) + this.logPrior[id];
  }
}

/** α·cos(r_ab, r_xy) + (1 − α)·cos(b − a + x, y), for words as y. */
class AnalogyScorer {
  /** @param {number} composedNorm Factor of the vectors in r, where a word is composed. */
  constructor(space, abx, direction, alpha, composedNorm) {
    const { pairs, whitenedPairs } = space;
    this.pairs = pairs;
    const inputs = abx.map((id) => pairs.inputs([id]));
    const factor = abx.some((id) => id >= pairs.words) ? composedNorm : 1;
    for (const { data } of inputs) data.set(data.map((value) => factor * value));
    const [a, b, x] = inputs;
    this.networks = roles(direction).map((role) => whitenedPairs.withInput(x.row(0).slice(), role));
    this.readouts = directedVectors(whitenedPairs, a, b, direction).map((target) => ({ target, isCosine: true }));
    const [first, second, third] = abx.map((id) => space.unitWord(id));
    this.offset = normalise(third.map((value, d) => value + second[d] - first[d]));
    this.offsetWeight = 1 - alpha;
    this.pairWeight = alpha / this.networks.length;
  }

  scores(ids) {
    const parts = this.networks.map((network, n) => network.scores(ids, this.readouts[n]));
    return this.#total(ids, parts);
  }

  approximateScores(clusters) {
    const parts = this.networks.map((network, n) => clusters.approximateScores(network, this.readouts[n]));
    return this.#total(Int32Array.from({ length: parts[0].length }, (_, id) => id), parts);
  }

  #total(ids, parts) {
    return Float32Array.from(ids, (id, n) => {
      const pairScore = parts.reduce((sum, part) => sum + part[n], 0);
      return this.offsetWeight * this.pairs.unitDot(id, this.offset) + this.pairWeight * pairScore;
    });
  }
}

/** The words of a model with the best scores. */
export class WordSearch {
  #clusters = null;
  #logFrequencies = null;

  /** @param constants Of `engine.json`. */
  constructor(space, tensors, { SHORTLIST, COMPOSED_NORM }) {
    this.space = space;
    this.shortlist = SHORTLIST; // so many words are scored exactly
    this.composedNorm = COMPOSED_NORM;
    this.#clusters = tensors.has("clusters.of_words") ? new WordClusters(space, tensors) : null;
  }

  /** The words that fit a pattern with `word` in the slot of `role`. */
  fill(word, role, context, { weights, ...options }) {
    const scorer = new SlotScorer(this.space, word, role, context, weights, this.#knownLogFrequencies());
    return this.#best(scorer, [word], options);
  }

  /** The words that are to x as b is to a. */
  analogy(abx, { alpha, direction, ...options }) {
    const scorer = new AnalogyScorer(this.space, abx, direction, alpha, this.composedNorm);
    return this.#best(scorer, abx, options);
  }

  #best(scorer, query, { search, top, allWords }) {
    const { words } = this.space.vocabulary;
    const isNone = this.space.noAnswers(query, allWords);
    const overlaps = allWords ? () => false : this.space.overlapping(query);
    const isExcluded = (id) => isNone(id) || overlaps(id);
    const ids = this.#candidates(scorer, isExcluded, search);
    const scores = scorer.scores(ids);
    const best = topK(scores, top, (n) => isExcluded(ids[n]));
    return best.map((n) => ({ word: words[ids[n]], score: scores[n] }));
  }

  #candidates(scorer, isExcluded, search) {
    const { size } = this.space.vocabulary;
    if (search === "shortlist" && this.#clusters && size > this.shortlist) {
      const approximate = scorer.approximateScores(this.#clusters);
      return Int32Array.from(topK(approximate, this.shortlist, isExcluded)).sort();
    }
    return Int32Array.from({ length: size }, (_, id) => id);
  }

  /** log p(word) of each word. */
  #knownLogFrequencies() {
    return (this.#logFrequencies ??= Float32Array.from(this.space.vocabulary.shares, Math.log));
  }
}

/** The cosine of each pair's vector with that of an example pair: (N,). */
export function pairCosines(pairs, [a, b], x, y, direction) {
  const targets = directedVectors(pairs, pairs.inputs([a]), pairs.inputs([b]), direction);
  const cosines = new Float32Array(x.length);
  eachBlock(pairs, x, y, (one, other, start) => {
    const both = direction === "both" ? pairs.composeBoth(one, other) : null;
    const sides = both ?? [direction === "forward" ? pairs.compose(one, other) : pairs.compose(other, one)];
    for (let n = 0; n < one.rows; n += 1) {
      let total = 0;
      sides.forEach((side, k) => {
        const { data, stride, columns } = side;
        total += dot(data, n * stride, targets[k], 0, columns) / safeNorm(data, n * stride, columns);
      });
      cosines[start + n] = total / sides.length;
    }
  });
  return cosines;
}

/** The cosine of each pair's offset, y − x of its words, with that of an example pair: (N,). */
export function offsetCosines({ pairs }, [a, b], x, y) {
  const offset = (one, other) => normalise(other.map((value, d) => value - one[d]));
  const unit = (id) => pairs.kernels.scope(() => pairs.unitInputs([id]).row(0).slice());
  const known = new Map(); // each word is in many pairs
  const vector = (id) => known.get(id) ?? known.set(id, unit(id)).get(id);
  const target = offset(vector(a), vector(b));
  return Float32Array.from(x, (id, n) => dot(offset(vector(id), vector(y[n])), 0, target, 0, target.length));
}

/**
 * Pairs that may be in the relation of (x, y): the nearest words to x, each with the nearest words
 * to itself plus y − x.
 *
 * @param {number} among So many of the most frequent words.
 * @returns {{first: Int32Array, second: Int32Array}}
 */
export function analogousPairs(space, x, y, { among, firstWords, secondWords }) {
  const { kernels, pairs } = space;
  const [fromX, toY] = [x, y].map((id) => space.unitWord(id));
  const isLeftOut = (id) => id < SPECIAL || id === x || id === y;
  const near = Float32Array.from({ length: among }, (_, id) => pairs.unitDot(id, fromX));
  const firsts = topK(near, firstWords, isLeftOut);
  return kernels.scope(() => {
    const targets = new Float32Array(pairs.dimension * firsts.length); // a column each
    firsts.forEach((first, n) => {
      const target = normalise(space.unitWord(first).map((value, d) => value + (toY[d] - fromX[d])));
      target.forEach((value, d) => (targets[d * firsts.length + n] = value));
    });
    const packed = kernels.pack(targets, pairs.dimension, firsts.length);
    const best = firsts.map(() => new Best(secondWords));
    for (let start = 0; start < among; start += ROWS_PER_BLOCK) {
      kernels.scope(() => {
        const ids = Array.from({ length: Math.min(ROWS_PER_BLOCK, among - start) }, (_, n) => start + n);
        const { data, stride } = kernels.product(pairs.unitInputs(ids), packed);
        ids.forEach((id, n) => {
          if (isLeftOut(id)) return;
          for (let k = 0; k < firsts.length; k += 1) if (id !== firsts[k]) best[k].offer(data[n * stride + k], id);
        });
      });
    }
    const seconds = best.map((one) => one.indices());
    const first = firsts.flatMap((id, n) => seconds[n].map(() => id));
    return { first: Int32Array.from(first), second: Int32Array.from(seconds.flat()) };
  });
}

/** The indices of pairs that share a word with a pair of a better score. */
export function repeatedWords(scores, first, second) {
  const order = Array.from(scores, (_, n) => n).sort((a, b) => scores[b] - scores[a]);
  const [seen, repeated] = [new Set(), new Set()];
  for (const n of order) {
    if (seen.has(first[n]) || seen.has(second[n])) repeated.add(n);
    else [first[n], second[n]].forEach((id) => seen.add(id));
  }
  return repeated;
}
