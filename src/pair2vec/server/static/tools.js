/** What can be done with results: copy their address, save them as a table or as a picture. */

import { button, element, shape } from "./elements.js";
import { rowsOf } from "./results.js";

const SAID_MS = 2000;
const DRAWN = ["fill", "stroke", "stroke-width", "paint-order", "opacity", "font-family", "font-size", "font-weight", "text-anchor"];

/**
 * Buttons for what results show.
 *
 * @param {HTMLElement} results
 * @param {string} name Of the files.
 */
export function tools(results, name) {
  const copy = button("Copy link", () => copyLink(copy));
  const made = [copy];
  if (rowsOf(results).length) made.push(button("CSV", () => save(table(rowsOf(results)), `${name}.csv`, "text/csv")));
  const picture = results.querySelector("svg");
  if (picture) made.push(button("SVG", () => save(drawing(picture), `${name}.svg`, "image/svg+xml")));
  return element("p", { class: "tools" }, ...made);
}

async function copyLink(pressed) {
  const { href } = location;
  try {
    await navigator.clipboard.writeText(href);
  } catch {
    prompt("The address of these results:", href); // without the right to copy
    return;
  }
  pressed.textContent = "Copied";
  setTimeout(() => (pressed.textContent = "Copy link"), SAID_MS);
}

function table(rows) {
  const quoted = (value) => `"${String(value).replaceAll('"', '""')}"`;
  const lines = [["of", "entry", "score"], ...rows].map((row) => row.map(quoted).join(","));
  return `${lines.join("\r\n")}\r\n`;
}

/** A picture that looks the same without our styles, on the paper that it has here. */
function drawing(picture) {
  const copy = picture.cloneNode(true);
  const [own, copied] = [picture, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  own.forEach((drawn, n) => {
    const styles = getComputedStyle(drawn);
    for (const name of DRAWN) copied[n].setAttribute(name, styles.getPropertyValue(name));
    if (drawn.href) copied[n].setAttribute("href", new URL(drawn.href.baseVal, location));
  });
  const { clientWidth: width, clientHeight: height } = picture;
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.prepend(shape("rect", { x: "-50%", y: "-50%", width: "100%", height: "100%", fill: paper }));
  return new XMLSerializer().serializeToString(copy);
}

function save(text, name, type) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), SAID_MS);
}
