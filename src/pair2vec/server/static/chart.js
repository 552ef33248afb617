/** Pairs as arrows in a plane; both axes have the same scale, so that angles and lengths are true. */

import { point } from "./arrows.js";
import { shape } from "./elements.js";

const LETTER = 9;
const LINE = 20;
const GAP = 9;
const MARGIN = 24;
const TALLEST = 420;
/** Of a plane whose words all stand on one line. */
const LEAST_RANGE = 0.05;
const COLOURS = 10;

/** The class of the colour of a pair, by its number. */
export function colourOfPair(number) {
  return `relation-${number % COLOURS}`;
}

export class Chart {
  #arrows;

  /** @param {{x: string, y: string, start: number[], end: number[]}[]} arrows */
  constructor(arrows) {
    this.#arrows = arrows;
    const said = arrows.map(({ x, y }) => `${x} to ${y}`).join(", ");
    this.element = shape("svg", { class: "graph chart text", role: "img", "aria-label": `Arrows from ${said}` });
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    const width = this.element.clientWidth;
    if (!width) return;
    const scaled = this.#scaled(width);
    const labels = apart(scaled.flatMap((arrow) => labelsOf(arrow, width)));
    const heights = [...scaled.flatMap(({ from, to }) => [from[1], to[1]]), ...labels.map(({ y }) => y)];
    const [top, bottom] = [Math.min(...heights) - MARGIN, Math.max(...heights) + MARGIN];
    const half = Math.max(-top, bottom);
    this.element.setAttribute("height", 2 * half);
    this.element.setAttribute("viewBox", `${-width / 2} ${-half} ${width} ${2 * half}`);
    const axes = shape("path", { class: "axis", d: `M${-width / 2} 0H${width / 2}M0 ${-half}V${half}` });
    this.element.replaceChildren(axes, ...scaled.flatMap(drawn), ...labels.map(text));
  }

  /** The arrows in pixels, with the middle of them in the middle. */
  #scaled(width) {
    const places = this.#arrows.flatMap(({ start, end }) => [start, end]);
    const [across, up] = [0, 1].map((axis) => {
      const values = places.map((place) => place[axis]);
      const [least, most] = [Math.min(...values), Math.max(...values)];
      return { middle: (least + most) / 2, range: Math.max(most - least, LEAST_RANGE) };
    });
    const letters = Math.max(...this.#arrows.flatMap(({ x, y }) => [x.length, y.length]));
    const room = width - 2 * Math.min(letters * LETTER + 2 * GAP, width / 3.4);
    const scale = Math.min(room / across.range, TALLEST / up.range);
    const at = ([right, above]) => [scale * (right - across.middle), -scale * (above - up.middle)];
    return this.#arrows.map(({ x, y, start, end }, n) => ({
      x, y, from: at(start), to: at(end), colour: colourOfPair(n),
    }));
  }
}

function drawn({ from, to, colour, x, y }) {
  const along = [to[0] - from[0], to[1] - from[1]];
  const line = { class: `edge ${colour}`, d: `M${rounded(from)}L${rounded(to)}`, "stroke-width": 2.2 };
  const title = shape("title", {}, `${x} to ${y}`);
  const tail = shape("circle", { class: colour, cx: from[0].toFixed(1), cy: from[1].toFixed(1), r: 4 });
  return [shape("path", line, title), tail, point(to, along, colour)];
}

/** The first word behind its arrow, the second before it, on the paper. */
function labelsOf({ x, y, from, to }, width) {
  const side = to[0] < from[0] ? -1 : 1;
  return [[x, from, -side], [y, to, side]].map(([word, place, towards]) => {
    const shown = shortened(word, Math.floor(width / 2 / LETTER));
    const size = shown.length * LETTER;
    const left = towards < 0 ? place[0] - GAP - size : place[0] + GAP;
    const most = width / 2 - size;
    return { word: shown, left: Math.max(-width / 2, Math.min(left, most)), size, y: place[1], towards };
  });
}

/** Each label below those that it would cover. */
function apart(labels) {
  const placed = [];
  for (const label of labels.toSorted((one, other) => one.y - other.y)) {
    const covers = ({ left, size, y }) =>
      label.left < left + size && left < label.left + label.size && Math.abs(label.y - y) < LINE - 1;
    for (let other = placed.find(covers); other; other = placed.find(covers)) label.y = other.y + LINE;
    placed.push(label);
  }
  return placed;
}

function text({ word, left, size, y, towards }) {
  const anchor = towards < 0 ? "end" : "start";
  return shape("text", { x: (towards < 0 ? left + size : left).toFixed(1), y: y.toFixed(1), dy: "0.35em", "text-anchor": anchor }, word);
}

function rounded([x, y]) {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

function shortened(word, letters) {
  return word.length > letters ? `${word.slice(0, letters - 1)}…` : word;
}
