/**
 * What two aligned sentences differ in, as features and as words (`relations/sentence_features.py`).
 *
 * The content words without a partner are aligned softly, by the probabilities of their relations
 * and by their places. Two reversals cancel out (*not disabled* is *enabled*).
 */

import { NONE } from "./relations.js";

const LEAST_FLIP = 0.02;
const LEAST_NAMED = 0.2;
const LEAST_RELATED = 0.3;
const [IN_PLACE_ODDS, SPELLED_ODDS] = [10, 30];
const LISTED = 0.95;
const [RELATED, IN_PLACE, APART] = [4, 3, 2];
const SYMMETRIC = new Set(["and", "or"]);
const FEATURE_RELATIONS = new Set(["synonym", "antonym", "hypernym", "hyponym", "co-hyponym", NONE]);

const sum = (values) => values.reduce((total, value) => total + value, 0);
const product = (values) => values.reduce((total, value) => total * value, 1);
const most = (values) => Math.max(0, ...values);
const byRow = (table) => table.map(sum);
const byColumn = (table, columns) => Array.from({ length: columns }, (_, m) => sum(table.map((row) => row[m])));

/** That an odd number of independent events with these probabilities happen. */
const oddProbability = (flips) => (1 - product(flips.map((p) => 1 - 2 * p))) / 2;

export class Differences {
  /**
   * @param item As `SentenceComparison` aligns them.
   * @param {Float64Array[][]} table Relations of the words that differ; it is changed.
   * @param {Map<string, number>} columns
   * @param tools `negations`, `forms`, and `units`.
   */
  constructor(item, table, columns, tools) {
    Object.assign(this, { item, columns, tools, a: item.alignment.a, b: item.alignment.b });
    const { restA, restB, isReplaced } = item;
    this.places = restA.flatMap((_, n) => restB.map((__, m) => [n, m]));
    this.inGap = this.places.filter(([n, m]) => isReplaced[n][m] === 1);
    this.spelledApart = new Set(
      this.inGap
        .filter(([n, m]) => tools.forms.differByPrefix(this.a[restA[n]].word, this.b[restB[m]].word))
        .map(([n, m]) => `${n} ${m}`),
    );
    for (const [n, m] of this.places) {
      const spelled = this.spelledApart.has(`${n} ${m}`) ? SPELLED_ODDS : 1;
      raiseOdds(table[n][m], IN_PLACE_ODDS ** isReplaced[n][m] * spelled, columns.get("antonym"));
    }
    const none = columns.get(NONE);
    this.weights = softAlignment(table.map((row) => row.map((cell) => 1 - cell[none])), isReplaced);
    this.related = table.map((row, n) => row.map((cell, m) => this.weights[n][m] * (1 - cell[none])));
    this.aligned = table.map((row, n) => row.map((cell, m) => cell.map((share) => share * this.weights[n][m])));
    [this.opposites, this.negations] = this.#findFlips();
    this.features = this.#measure();
  }

  /** How much two words are aligned and in one of the relations, by row and column. */
  #relation(...names) {
    const chosen = names.filter((name) => this.columns.has(name)).map((name) => this.columns.get(name));
    return this.aligned.map((row) => row.map((cell) => sum(chosen.map((k) => cell[k]))));
  }

  /** Opposites among the words that differ, and negations that one sentence alone has. */
  #findFlips() {
    const { item, tools } = this;
    const { alignment, restA, restB } = item;
    const listed = tools.negations.listedOpposites(alignment);
    const used = [0, 1].map((side) => new Set(listed.map((pair) => pair[side])));
    const opposites = listed.map(([i, j]) => difference("opposite", this.a[i].text, this.b[j].text, LISTED));
    const [antonyms, synonyms] = [this.#relation("antonym"), this.#relation("synonym")];
    for (const [n, m] of this.places) {
      const [i, j] = [restA[n], restB[m]];
      if (antonyms[n][m] <= LEAST_FLIP || used[0].has(i) || used[1].has(j)) continue;
      opposites.push(difference("opposite", this.a[i].text, this.b[j].text, antonyms[n][m]));
    }
    const negations = [];
    const sides = [
      { tokens: this.a, rest: alignment.restA, content: restA, used: used[0], sums: byRow },
      { tokens: this.b, rest: alignment.restB, content: restB, used: used[1], sums: (table) => byColumn(table, restB.length) },
    ];
    sides.forEach(({ tokens, rest, content, used: taken, sums }, n) => {
      const [related, alike, opposed] = [this.related, synonyms, antonyms].map(
        (table) => new Map(sums(table).map((total, place) => [content[place], total])),
      );
      for (const { place, probability } of tools.negations.ofSide({ tokens, rest, used: taken, related, alike })) {
        if (probability <= LEAST_FLIP) continue;
        const found = (opposed.get(place) ?? 0) > LEAST_FLIP ? opposites : negations;
        const { text } = tokens[place];
        found.push(difference("negation", n ? "" : text, n ? text : "", probability));
      }
    });
    return [opposites, negations];
  }

  #measure() {
    const { item, a, b } = this;
    const { restA, restB, isReplaced, knownA, knownB } = item;
    const negated = this.negations.map((negation) => negation.probability);
    const anyOpposite = 1 - product(this.opposites.map((one) => 1 - one.probability));
    const odd = oddProbability([anyOpposite, ...negated]);
    const noneAtAll = (1 - anyOpposite) * product(negated.map((p) => 1 - p));
    const content = [a, b].map((side) => Math.max(1, side.filter((token) => token.isContent).length));
    const rest = [restA.length, restB.length];
    const inOrder = (values) => values.sort((one, other) => one - other);
    const coverage = inOrder(rest.map((own, n) => 1 - own / content[n]));
    const sums = [byRow(this.related), byColumn(this.related, restB.length)];
    const unexplained = inOrder(sums.map((side, n) => sum(side.map((total) => 1 - Math.min(total, 1))) / content[n]));
    const negations = inOrder(
      ["a", "b"].map((side) => sum(this.negations.filter((one) => one[side] === "").map((one) => one.probability))),
    );
    const whole = (...names) => sum(this.#relation(...names).flat());
    const mostInGap = (...names) => {
      const table = this.#relation(...names);
      return most(this.inGap.map(([n, m]) => table[n][m]));
    };
    const unrelated = this.#relation(NONE);
    const [numbers, names] = [this.#numbers(), this.#names()];
    const { exchanged, wrong } = this.#order();
    const others = [...this.columns.keys()].filter((name) => !FEATURE_RELATIONS.has(name));
    const known = [...knownA, ...knownB].filter((id) => id > 0);
    return {
      odd,
      even: 1 - odd - noneAtAll,
      any: 1 - noneAtAll,
      fewer_negations: negations[0],
      more_negations: negations[1],
      lower_coverage: coverage[0],
      higher_coverage: coverage[1],
      odd_covered: odd * coverage[0],
      less_unexplained: unexplained[0],
      more_unexplained: unexplained[1],
      replaced: sum(this.inGap.map(([n, m]) => unrelated[n][m])),
      fewer_rest: Math.log1p(Math.min(...rest)),
      more_rest: Math.log1p(Math.max(...rest)),
      extra: Math.abs(rest[0] - rest[1]) / Math.max(...content),
      antonym: whole("antonym"),
      synonym: whole("synonym"),
      hypernym: whole("hypernym", "hyponym"),
      "co-hyponym": whole("co-hyponym"),
      other: whole(...others),
      gap_antonym: mostInGap("antonym"),
      gap_synonym: mostInGap("synonym"),
      gap_hypernym: mostInGap("hypernym", "hyponym"),
      "gap_co-hyponym": mostInGap("co-hyponym"),
      gap_none: mostInGap(NONE),
      substitution: this.#substitution(),
      numbers: Math.min(...numbers.map((side) => side.length)),
      numbers_added: Math.abs(numbers[0].length - numbers[1].length),
      units: Number(this.#units() !== null),
      names: Math.min(...names.map((side) => side.length)),
      names_added: Math.abs(names[0].length - names[1].length),
      exchanged: Number(exchanged !== null),
      order: wrong,
      question: Number(item.questions.some(Boolean)),
      questions: Number(item.questions.every(Boolean)),
      length: Math.log(a.length + b.length),
      only_function: Number(!restA.length && !restB.length),
      rarity: known.length ? sum(known.map(Math.log)) / known.length : 0,
      in_place: sum(this.places.map(([n, m]) => this.weights[n][m] * isReplaced[n][m])),
      unknown: this.#unknownShare(),
    };
  }

  /** The share, of the words that differ, of unknown ones without a spelled opposite. */
  #unknownShare() {
    const { knownA, knownB } = this.item;
    const apart = [...this.spelledApart].map((place) => place.split(" ").map(Number));
    const unknown = [knownA, knownB].map(
      (known, side) => known.filter((id, n) => !id && !apart.some((place) => place[side] === n)).length,
    );
    return sum(unknown) / Math.max(1, knownA.length + knownB.length);
  }

  /** How much a word is in the place of one that is neither a synonym nor an opposite. */
  #substitution() {
    const [antonyms, synonyms] = [this.#relation("antonym"), this.#relation("synonym")];
    return most(
      this.inGap.map(([n, m]) => {
        const [one, other] = [this.a[this.item.restA[n]], this.b[this.item.restB[m]]];
        const areDistinct = (one.isName && other.isName) || this.spelledApart.has(`${n} ${m}`);
        return this.weights[n][m] - antonyms[n][m] - (areDistinct ? 0 : synonyms[n][m]);
      }),
    );
  }

  /** Of the words that one sentence alone has, those that are meant. */
  #restWhere(isMeant) {
    const { alignment } = this.item;
    return [
      alignment.restA.map((i) => this.a[i]),
      alignment.restB.map((j) => this.b[j]),
    ].map((side) => side.filter(isMeant).map((token) => token.text));
  }

  #numbers() {
    return this.#restWhere((token) => token.isNumber);
  }

  #names() {
    return this.#restWhere((token) => token.isName);
  }

  /** Two different units in one place. */
  #units() {
    const { restA, restB, isReplaced } = this.item;
    for (const [n, m] of this.places) {
      const [one, other] = [this.a[restA[n]], this.b[restB[m]]];
      const areUnits = [one, other].every((token) => this.tools.units.has(token.word));
      if (areUnits && isReplaced[n][m] > 0) return [one.text, other.text];
    }
    return null;
  }

  /** Two content words that have changed places, and the share of those out of order. */
  #order() {
    const matched = this.item.alignment.partnerA
      .map((j, i) => [i, j])
      .filter(([i, j]) => j >= 0 && (this.a[i].isContent || this.a[i].isNumber));
    const places = matched.map(([, j]) => j);
    const wrong = places.slice(1).filter((place, n) => places[n] > place).length;
    if (!wrong) return { exchanged: null, wrong: 0 };
    return { exchanged: this.#exchanged(matched), wrong: wrong / Math.max(1, places.length - 1) };
  }

  /** Two words that have changed places where all others keep theirs. */
  #exchanged(matched) {
    const places = matched.map(([, j]) => j);
    const rightful = places.toSorted((one, other) => one - other);
    const moved = places.flatMap((j, n) => (j === rightful[n] ? [] : [n]));
    if (moved.length < 2 || moved.length > 4) return null;
    const [first, last] = [moved[0], moved.at(-1)];
    if (places[first] !== rightful[last] || places[last] !== rightful[first]) return null;
    const [start, end] = [matched[first][0], matched[last][0]];
    if (this.a.slice(start + 1, end).every((token) => SYMMETRIC.has(token.word))) return null;
    const passives = [this.a, this.b].map((side) => side.filter((token) => token.word === "by").length);
    return passives[0] === passives[1] ? [this.a[start].text, this.a[end].text] : null;
  }

  /** What the sentences differ in, the most important first. */
  named() {
    const { restA, restB, isReplaced } = this.item;
    const found = [...this.opposites, ...this.negations].filter((flip) => flip.probability >= LEAST_NAMED);
    const together = (kind, [one, other]) =>
      one.slice(0, other.length).forEach((text, n) => found.push(difference(kind, text, other[n], 1)));
    together("number", this.#numbers());
    const unit = this.#units();
    if (unit) found.push(difference("unit", ...unit, 1));
    const { exchanged } = this.#order();
    if (exchanged) found.push(difference("exchanged", ...exchanged, 1));
    together("name", this.#names());
    const kinds = [
      ["kind", ["co-hyponym"]],
      ["hypernym", ["hypernym", "hyponym"]],
      ["synonym", ["synonym"]],
      ["word", [NONE]],
    ];
    for (const [kind, names] of kinds) {
      const table = this.#relation(...names);
      for (const [n, m] of this.places) {
        const weight = kind === "word" && isReplaced[n][m] !== 1 ? 0 : table[n][m];
        if (weight < LEAST_RELATED) continue;
        const words = [this.a[restA[n]].text, this.b[restB[m]].text];
        const isNamed = found.some((one) => [one.a, one.b].some((text) => words.includes(text)));
        if (!isNamed) found.push(difference(kind, ...words, weight));
      }
    }
    return found;
  }
}

function difference(kind, a, b, probability) {
  return { kind, a, b, probability };
}

/** Multiply the odds of opposites; the other relations keep their proportions. */
function raiseOdds(cell, factor, antonym) {
  const divisor = 1 + (factor - 1) * cell[antonym];
  for (let k = 0; k < cell.length; k += 1) cell[k] /= divisor;
  cell[antonym] *= factor;
}

/**
 * How much two words that differ are each other's counterparts: the geometric mean of two softmaxes,
 * over the words of b and over those of a, each with a place for having none, whose score is 0.
 */
function softAlignment(related, isReplaced) {
  const scores = related.map((row, n) => row.map((value, m) => Math.exp(RELATED * value + IN_PLACE * isReplaced[n][m] - APART)));
  const [rows, columns] = [byRow(scores), byColumn(scores, scores[0]?.length ?? 0)];
  return scores.map((row, n) => row.map((score, m) => score / Math.sqrt((1 + rows[n]) * (1 + columns[m]))));
}
