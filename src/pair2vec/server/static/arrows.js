/** The points of arrows: between words of a map, and wherever one stands. */

import { shape } from "./elements.js";

const LENGTH = 9;
const STEPS = 40;
/** Half of the height of the word in the middle, and a gap. */
const HALF_HEIGHT = 18;
const SYMMETRIC = new Set(["synonym", "antonym", "co-hyponym"]);
/** Relations whose arrow leads to the middle: there is the kind, the whole, the place. */
const INWARDS = new Set(["hyponym", "part", "location-of", "material-of", "occupation-of"]);

/**
 * The points of the arrow from the middle to (x, y), along `M0 0Q x/2 y x y`.
 *
 * @param {number} half Of the width of the word in the middle.
 * @param {string} colour A class.
 */
export function arrowPoints(relation, x, y, half, colour) {
  const isBoth = SYMMETRIC.has(relation);
  const points = [];
  if (isBoth || !INWARDS.has(relation)) points.push(point([x - 5 * Math.sign(x), y], [Math.sign(x), 0], colour));
  if (isBoth || INWARDS.has(relation)) {
    const at = (t) => [t * x, (2 * t - t * t) * y];
    const isOutside = ([across, down]) => Math.abs(across) > half + 2 || Math.abs(down) > HALF_HEIGHT;
    // Where the curve leaves the word.
    const step = Array.from({ length: STEPS }, (_, n) => n / STEPS).find((t) => isOutside(at(t))) ?? 0.5;
    const [from, to] = [at(step), at(step + 0.02)];
    points.push(point(from, [from[0] - to[0], from[1] - to[1]], colour));
  }
  return points;
}

/** The point of an arrow that ends in (x, y) and goes in the direction (dx, dy). */
export function point([x, y], [dx, dy], colour) {
  const turn = (180 * Math.atan2(dy, dx)) / Math.PI;
  const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${turn.toFixed(1)})`;
  return shape("path", { class: `point ${colour}`, d: `M0 0L${-LENGTH} ${LENGTH / 2}V${-LENGTH / 2}Z`, transform });
}
