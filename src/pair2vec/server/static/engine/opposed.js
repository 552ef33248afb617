/**
 * Whether two sentences say the same, opposite or different things, and which words decide: the
 * sentences are aligned, the relations of the words in which they differ are looked up, and a small
 * network weighs the features of what differs (`differences.js`).
 */

import { SentenceReader, Negations } from "./alignment.js";
import { Differences } from "./differences.js";
import { NONE } from "./relations.js";
import { softmax } from "./tensors.js";

const VERDICTS = ["same", "opposed", "different"];
const MOST_TOKENS = 256;
const MOST_REST = 10;
const MOST_PAIRS = 12;
const LEAST_PROBABLE = 0.5;
const LEAST_KNOWN = 0.5;
const UNKNOWN_WORDS = "the words that differ are unknown to the model";

export class SentenceComparison {
  /** @param engine Of `engine.json`. */
  constructor(relations, { opposed, lists, constants }, tokeniser) {
    const { forms } = relations;
    this.relations = relations;
    this.weights = opposed;
    this.mostOfSame = Object.entries(constants.MOST_OF_SAME);
    this.reader = new SentenceReader(lists, tokeniser, forms);
    this.tools = { negations: new Negations(lists, forms), forms, units: new Set(lists.units) };
    this.columns = new Map(relations.names.map((name, k) => [name, k]));
  }

  /** As `/api/opposed` answers. */
  compare(a, b) {
    const compared = this.#align(a, b);
    if (compared.verdict) return compared;
    const differences = new Differences(compared, this.#relationTable(compared), this.columns, this.tools);
    const named = differences.named();
    const inOrder = compared.isSwapped ? named.map((one) => ({ ...one, a: one.b, b: one.a })) : named;
    return this.#verdict(compared, differences.features, inOrder);
  }

  /** The alignment of two sentences; a verdict where nothing needs to be measured. */
  #align(a, b) {
    const { reader, relations } = this;
    let sides = [a, b].map((sentence) => reader.tokensOf(sentence));
    for (const [n, side] of sides.entries()) {
      const which = `the ${["first", "second"][n]} sentence has`;
      if (!side.length) return unsure(`${which} no words`);
      if (side.length > MOST_TOKENS) {
        const count = side.length.toLocaleString("en");
        return unsure(`${which} ${count} words; at most ${MOST_TOKENS} are compared`);
      }
    }
    const [first, second] = sides.map((side) => side.map((token) => token.word).join(" "));
    if (first === second) return certain("same", "the same words");
    // In one order, so that the answer is the same in either.
    const isSwapped = b < a;
    if (isSwapped) sides = sides.reverse();
    const alignment = reader.align(...sides);
    const [restA, restB] = [alignment.restA, alignment.restB].map((rest, n) =>
      rest.filter((place) => sides[n][place].isContent).slice(0, MOST_REST),
    );
    const { ids } = relations.space.vocabulary;
    const content = sides.flat().filter((token) => token.isContent);
    const known = content.length ? content.filter((token) => ids.has(token.word)).length / content.length : 1;
    if (known <= LEAST_KNOWN) return unsure("most of the words are unknown to the model");
    return {
      alignment,
      restA,
      restB,
      isReplaced: replacedPlaces(alignment, restA, restB),
      knownA: restA.map((place) => this.#knownId(alignment.a[place].word)),
      knownB: restB.map((place) => this.#knownId(alignment.b[place].word)),
      questions: [a, b].map((sentence) => sentence.trimEnd().endsWith("?")),
      isSwapped,
    };
  }

  /** The id of a word, or of another spelling or form of it; 0 if the model knows none. */
  #knownId(word) {
    const { ids } = this.relations.space.vocabulary;
    for (const spelling of this.relations.forms.spellingVariants(word)) {
      if (ids.has(spelling)) return ids.get(spelling);
    }
    return 0;
  }

  /** The relations of the words that differ: `table[n][m][k]`; none where not looked up. */
  #relationTable({ alignment, restA, restB, knownA, knownB, isReplaced }) {
    const { relations, columns } = this;
    const count = columns.size;
    const only = (name) => Float64Array.from({ length: count }, (_, k) => Number(k === columns.get(name)));
    const table = restA.map(() => restB.map(() => only(NONE)));
    const chosen = this.#chosenPairs(knownA, knownB, isReplaced);
    const [x, y] = [chosen.map(([n]) => knownA[n]), chosen.map(([, m]) => knownB[m])];
    const found = relations.probabilities(Int32Array.from(x), Int32Array.from(y));
    chosen.forEach(([n, m], row) => table[n][m].set(found.subarray(row * count, (row + 1) * count)));
    // Opposites by spelling, of words that the model does not know.
    restA.forEach((i, n) => {
      restB.forEach((j, m) => {
        const isKnown = knownA[n] && knownB[m];
        if (!isKnown && relations.forms.isNegatedForm(alignment.a[i].word, alignment.b[j].word)) table[n][m] = only("antonym");
      });
    });
    return table;
  }

  /** Which of the words that differ to relate: those in one place, then the nearest. */
  #chosenPairs(knownA, knownB, isReplaced) {
    const pairs = knownA.flatMap((a, n) => knownB.flatMap((b, m) => (a && b ? [[n, m]] : [])));
    if (pairs.length <= MOST_PAIRS) return pairs;
    const { space } = this.relations;
    const [first, second] = [knownA, knownB].map((ids) => ids.map((id) => space.unitWord(id)));
    const cosine = ([n, m]) => first[n].reduce((sum, value, d) => sum + value * second[m][d], 0);
    const scored = pairs.map((pair) => ({ pair, score: isReplaced[pair[0]][pair[1]] + cosine(pair) }));
    return scored.sort((a, b) => b.score - a.score).slice(0, MOST_PAIRS).map(({ pair }) => pair);
  }

  #verdict({ knownA, knownB }, features, differences) {
    const { weights, mostOfSame } = this;
    const row = weights.features.map((name) => features[name]);
    const probabilities = networkOutput(weights.network, row);
    const byName = Object.fromEntries(VERDICTS.map((name, n) => [name, probabilities[n]]));
    const rest = [...knownA, ...knownB];
    const said = differences.map(({ kind, a, b, probability }) => {
      const words = [a, b].filter(Boolean).join(" / ");
      return `${words} (${kind} ${(100 * probability).toFixed(0)} %)`;
    });
    const plain = rest.length ? "words that are not related" : "only function words differ";
    const reason = said.join("; ") || plain;
    const isOpposed = differences.length && byName.opposed >= weights.threshold;
    const other = byName.same >= byName.different ? "same" : "different";
    const verdict = isOpposed ? "opposed" : other;
    const probability = byName[verdict];
    const isDoubtful = !isOpposed && probability < LEAST_PROBABLE;
    const unknown = rest.filter((id) => id === 0).length;
    const isKnown = !rest.length || unknown / rest.length <= LEAST_KNOWN;
    const mayBeSame = mostOfSame.every(([name, most]) => features[name] < most);
    if (isDoubtful || (verdict === "same" && !mayBeSame) || (verdict !== "different" && !isKnown)) {
      return {
        verdict: "unsure",
        probability: Math.max(...probabilities),
        probabilities: byName,
        differences,
        reason: isKnown ? `not clear: ${reason}` : UNKNOWN_WORDS,
      };
    }
    return { verdict, probability, probabilities: byName, differences, reason };
  }
}

/** Of one hidden layer, with standardised inputs, to probabilities. */
function networkOutput(network, row) {
  const inputs = row.map((value, n) => (value - network.mean[n]) * network.scale[n]);
  const hidden = network.bias.map((bias, unit) =>
    Math.max(0, inputs.reduce((sum, value, n) => sum + value * network.weight[n][unit], bias)),
  );
  return softmax(
    network.out_bias.map((bias, k) => hidden.reduce((sum, value, unit) => sum + value * network.out_weight[unit][k], bias)),
  );
}

/** How much two words without a partner are in one place: 0, 0.5 or 1, by row and column. */
function replacedPlaces(alignment, restA, restB) {
  const [gapsA, gapsB] = alignment.gaps();
  const ownA = new Map(alignment.restA.map((place, n) => [place, gapsA[n]]));
  const ownB = new Map(alignment.restB.map((place, n) => [place, gapsB[n]]));
  return restA.map((i) =>
    restB.map((j) => {
      const [one, other] = [ownA.get(i), ownB.get(j)];
      return (Number(one[0] === other[0]) + Number(one[1] === other[1])) / 2;
    }),
  );
}

function certain(verdict, reason) {
  const probabilities = Object.fromEntries(VERDICTS.map((name) => [name, Number(name === verdict)]));
  return { verdict, probability: 1, probabilities, differences: [], reason };
}

function unsure(reason) {
  const even = 1 / VERDICTS.length;
  const probabilities = Object.fromEntries(VERDICTS.map((name) => [name, even]));
  return { verdict: "unsure", probability: even, probabilities, differences: [], reason };
}
