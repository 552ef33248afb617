/** Plane: two or more pairs as arrows in the plane of their offsets, and how alike they are. */

import { addressOf } from "../address.js";
import { Chart, colourOfPair } from "../chart.js";
import { element } from "../elements.js";
import { keepRows } from "../results.js";

/** @type {import("../panel.js").PanelSpec} */
export const plane = {
  name: "plane",
  examples: [
    { a: "france", b: "paris", x: "japan", y: "tokyo" },
    { a: "man", b: "woman", x: "king", y: "queen", more: "boy : girl, brother : sister" },
    { a: "hot", b: "cold", x: "rich", y: "poor" },
    { a: "hot", b: "cold", x: "guitar", y: "instrument" },
  ],
  hint: "Type two pairs; more of them with a colon in each, and commas between.",
  isComplete: (state) => state.a && state.b && state.x && state.y && pairsOf(state).every(({ x, y }) => x && y),
  label: (state) => [pairsOf(state).map(({ x, y }) => `${x} : ${y}`).join(", ")],
  toState: ({ a, b, x, y, more }) => ({ a, b, x, y, more }),
  toFields: ({ a = "", b = "", x = "", y = "", more = "" }) => ({ a, b, x, y, more }),
  answer,
};

/** Of what is typed; one without a colon lacks its second word. */
function pairsOf({ a, b, x, y, more = "" }) {
  const others = more.split(",").filter((text) => text.trim());
  const split = others.map((text) => text.split(":").map((word) => word.trim()));
  return [[a, b], [x, y], ...split].map(([first, second]) => ({ x: first, y: second }));
}

async function answer(state, get, results) {
  const pairs = pairsOf(state);
  const { arrows, shares } = await get("plane", { x: pairs.map(({ x }) => x), y: pairs.map(({ y }) => y) });
  const chart = new Chart(arrows);
  keepRows(chart.element, arrows.flatMap(coordinates));
  results.replaceChildren(chart.element, caption(shares, arrows.length), table(arrows));
  chart.draw();
  const mean = (name) => signed(arrows.reduce((sum, arrow) => sum + arrow[name], 0) / arrows.length);
  const which = arrows.length > 2 ? "mean cosine" : "cosine";
  return `${which} of the pair vectors ${mean("pair_cosine")}, of the offsets ${mean("offset_cosine")}`;
}

/** What the axes are, and how much of the offsets they show. */
function caption([across, up], count) {
  const percent = (share) => `${(100 * share).toFixed(0)} %`;
  const left = Math.max(0, 1 - across - up);
  const rest = count > 2
    ? `The other ${percent(left)} cannot be seen here.`
    : "The lengths of the arrows and the angle between them are true.";
  return element(
    "p",
    { class: "caption" },
    `Across: the mean offset of the words, second minus first, which is what the pairs have in common: ${percent(across)} ` +
      `of their offsets. Up and down: what the offsets differ by most, ${percent(up)}. ${rest}`,
  );
}

/** The cosines of each pair with the others. */
function table(arrows) {
  const others = arrows.length > 2 ? "the other pairs (mean)" : "the other pair";
  const rows = arrows.map(({ x, y, pair_cosine: pair, offset_cosine: offset }, n) => {
    const dot = element("span", { class: `dot ${colourOfPair(n)}`, "aria-hidden": "true" });
    const link = element("a", { class: "text", href: addressOf("pair", { x, y }) }, `${x} : ${y}`);
    const cells = [pair, offset].map((cosine) => element("td", { class: "number" }, signed(cosine)));
    return element("tr", {}, element("th", { scope: "row" }, dot, link), ...cells);
  });
  const heads = [`Cosine with ${others}`, "of pair vectors", "of offsets"];
  const head = element("tr", {}, ...heads.map((name) => element("th", { scope: "col" }, name)));
  const made = element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
  keepRows(made, arrows.flatMap(({ x, y, pair_cosine: pair, offset_cosine: offset }) => [
    ["cosine of pair vectors", `${x} : ${y}`, pair],
    ["cosine of offsets", `${x} : ${y}`, offset],
  ]));
  return made;
}

function coordinates({ x, y, start, end }) {
  return [[x, start], [y, end]].flatMap(([word, [across, up]]) => [["across", word, across], ["up", word, up]]);
}

function signed(number) {
  return number.toFixed(2).replace("-", "−");
}
