/** Results as ranked lists of links. */

import { addressOf } from "./address.js";
import { element } from "./elements.js";
import { inSlot } from "./pattern.js";

/**
 * @typedef {Object} Row
 * @property {string} href
 * @property {string} title Of the link.
 * @property {(Node | string)[]} content
 * @property {number} score
 * @property {Node} [beside] After the row.
 */

/**
 * A list with a bar for each score.
 *
 * @param {Row[]} rows
 * @param {string} label For screen readers.
 * @param {number[]} scores Set the scale of the bars.
 */
export function rankedList(rows, label, scores = rows.map((row) => row.score)) {
  const best = Math.max(...scores);
  const floor = Math.min(0, ...scores);
  const items = rows.map((row) => item(row, (row.score - floor) / (best - floor || 1)));
  const list = element("ol", { class: "ranked", "aria-label": label }, ...items);
  keepRows(list, rows.map(({ content, score }) => [label, element("span", {}, ...copies(content)).textContent, score]));
  return list;
}

function item({ href, title, content, score, beside }, share) {
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", Math.max(share, 0.01));
  const words = element("span", { class: "text" }, ...content);
  const number = element("span", { class: "number" }, score.toFixed(2).replace("-", "−"));
  const link = element("a", { href, title }, words, bar, number);
  return element("li", {}, link, ...(beside ? [beside] : []));
}

const kept = new WeakMap();

/** Keep what an element shows, as rows of a table: what it is of, what it is, and its score. */
export function keepRows(shown, rows) {
  kept.set(shown, rows);
}

/** All rows that results show. */
export function rowsOf(results) {
  return [...results.querySelectorAll("*")].flatMap((shown) => kept.get(shown) ?? []);
}

function copies(content) {
  return content.map((piece) => (typeof piece === "string" ? piece : piece.cloneNode(true)));
}

/** A section of the results. */
export function part(heading, ...content) {
  return element("section", { class: "part" }, element("h2", {}, ...[heading].flat()), ...content);
}

/** A section of pairs in the same relation, which lead on to a panel; none without any. */
export function similarPairs(matches, panel) {
  if (!matches.length) return [];
  const rows = matches.map(({ x, y, score }) => ({
    href: addressOf(panel, { x, y }),
    title: `How ${x} and ${y} are related`,
    content: [inSlot("X", x), " : ", inSlot("Y", y)],
    score,
  }));
  const heading = "Pairs in the same relation";
  return [part(heading, rankedList(rows, heading))];
}

const MOST_ARROWS = 5;

/** A link to the plane that shows pairs as arrows. */
export function arrowsLink(pairs) {
  const [{ x: a, y: b }, { x, y }, ...others] = pairs.slice(0, MOST_ARROWS);
  const more = others.map((pair) => `${pair.x} : ${pair.y}`).join(", ");
  const href = addressOf("plane", { a, b, x, y, ...(more && { more }) });
  return element("p", {}, element("a", { href }, "These pairs as arrows"));
}
