/** Play: an analogy to complete, or the word that does not belong; the model answers after. */

import { addressOf } from "../address.js";
import { ApiError } from "../api.js";
import { button, element } from "../elements.js";
import { analogyQuestion, oddQuestion } from "../games.js";
import { rankedList } from "../results.js";

const NUMBERS = 10_000;
const SHOWN = 5;

/** Whether the player and the model were right, by question; kept while the page is open. */
const scores = new Map();

/**
 * @typedef {Object} Game
 * @property {string} label
 * @property {(material: Object, number: number) => ?Object} make
 * @property {(question: Object) => {text: string, choices: string[], right: string[], why: string}} ask
 * @property {(question: Object, get: Function) => Promise<{word: string, shown: Node, how: string}>} answer By the model.
 */

/** @type {Object<string, Game>} */
const games = {
  analogy: { label: "Analogy", make: analogyQuestion, ask: askAnalogy, answer: modelAnalogy },
  odd: { label: "Odd one out", make: oddQuestion, ask: askOdd, answer: modelOdd },
};

/** @type {import("../panel.js").PanelSpec} */
export const play = {
  name: "play",
  examples: [{ game: "analogy" }, { game: "odd" }],
  hint: "Choose a game.",
  isComplete: ({ game }) => game in games,
  label: ({ game }) => [games[game].label],
  toState: ({ game, n }) => ({ game, n }),
  toFields: ({ game = "analogy", n = String(Math.ceil(NUMBERS * Math.random())) }) => ({ game, n }),
  answer,
};

async function answer({ game, n }, get, results) {
  const { make, ask, answer: answerOfModel } = games[game];
  const question = make(await get("play"), Number(n));
  if (!question) {
    results.replaceChildren();
    return "This model knows too few of the words that are asked.";
  }
  const { text, choices, right, why } = ask(question);
  const outcome = element("div", { "aria-live": "polite" });
  const next = element("a", { class: "chip", href: addressOf("play", { game, n: (Number(n) % NUMBERS) + 1 }) }, "Next question");
  const buttons = choices.map((word) => button(word, () => choose(word)));
  const group = element("div", { class: "choices", role: "group", "aria-label": "Your answer" }, ...buttons);
  const counted = element("span", {}, score());
  const onwards = element("p", { class: "examples" }, next, counted);
  results.replaceChildren(element("p", { class: "sentence text" }, text), group, outcome, onwards);
  // Who plays by keys goes on from the answers.
  if (document.activeElement === results.closest("[role=tabpanel]")) buttons[0].focus();
  return `question ${n}: choose an answer`;

  async function choose(word) {
    buttons.forEach((one, index) => mark(one, choices[index], { word, right }));
    const isRight = right.includes(word);
    const found = choices.find((one) => right.includes(one));
    outcome.append(element("p", {}, element("strong", {}, isRight ? "Right" : `No: ${found}`), `. ${why}`));
    next.focus({ preventScroll: true });
    const model = await answerOfModel(question, get).catch(noAnswer);
    if (!model) return outcome.append(element("p", {}, "The model did not answer."));
    const agrees = right.includes(model.word);
    const key = `${game} ${n}`;
    if (!scores.has(key)) scores.set(key, { you: isRight, model: agrees });
    const heading = element("h2", {}, `The model says ${model.word}: ${agrees ? "right" : "not the answer that was meant"}`);
    outcome.append(heading, element("p", { class: "caption" }, model.how), model.shown);
    counted.textContent = score();
  }
}

/** Of a button that can no longer be pressed, whether it was right. */
function mark(pressed, own, { word, right }) {
  pressed.disabled = true;
  if (right.includes(own)) pressed.classList.add("right");
  else if (own === word) pressed.classList.add("wrong");
}

function noAnswer(error) {
  if (error instanceof ApiError || error.name === "AbortError") return null;
  throw error;
}

function score() {
  const asked = [...scores.values()];
  const count = (who) => asked.filter((one) => one[who]).length;
  return asked.length ? `You: ${count("you")} of ${asked.length} · the model: ${count("model")} of ${asked.length}` : "";
}

function askAnalogy({ a, b, x, right, choices, about }) {
  return { text: `${a} is to ${b} as ${x} is to …`, choices, right, why: `The relation: ${about}.` };
}

async function modelAnalogy({ a, b, x }, get) {
  const { matches } = await get("analogy", { a, b, x, top: SHOWN });
  const rows = matches.map(({ word, score }) => ({
    href: addressOf("plane", { a, b, x, y: word }),
    title: `${a} : ${b} and ${x} : ${word} as arrows`,
    content: [word],
    score,
  }));
  const how = "Of all its words, those with the best scores; each leads on to both pairs as arrows.";
  return { word: matches[0].word, shown: rankedList(rows, `What the model says is to ${x} as ${b} is to ${a}`), how };
}

function askOdd({ words, odd, group, other }) {
  const alike = words.filter((word) => word !== odd).join(", ");
  return { text: "Which word does not belong?", choices: words, right: [odd], why: `${group}: ${alike}; ${other}: ${odd}.` };
}

/** The word that the model relates least to the others: by the probability of any relation. */
async function modelOdd({ words }, get) {
  const pairs = words.flatMap((x, n) => words.slice(n + 1).map((y) => ({ x, y })));
  const answers = await Promise.all(pairs.map((pair) => get("relate", { ...pair, top: 0 })));
  const related = answers.map(probabilityOfAny);
  const means = words.map((word) => {
    const own = related.filter((_, n) => pairs[n].x === word || pairs[n].y === word);
    return { word, score: own.reduce((sum, one) => sum + one, 0) / own.length };
  });
  means.sort((one, other) => one.score - other.score);
  const all = answers.flatMap((found, n) => namedRelations(found).map((one) => ({ ...pairs[n], ...one })));
  const { x, y, relation, probability } = all.sort((one, other) => other.probability - one.probability)[0];
  const how =
    "How probable it is, on average, that a word is in some relation to each of the others. " +
    `The most probable: ${x} and ${y}, ${relation}, ${(100 * probability).toFixed(0)} %.`;
  const rows = means.map(({ word, score }) => ({
    href: addressOf("map", { word }),
    title: `The words around ${word}`,
    content: [word],
    score,
  }));
  return { word: means[0].word, shown: rankedList(rows, "How related each word is to the others", [0, 1]), how };
}

/** Of a pair. */
function probabilityOfAny(found) {
  return Math.min(1, namedRelations(found).reduce((sum, one) => sum + one.probability, 0));
}

/** Those that a pair may be in. */
function namedRelations({ relation, probability, others }) {
  return [{ relation, probability }, ...others].filter((one) => !["none", "unclear"].includes(one.relation));
}
