/** The explorer: panels that query the server; the address says which is shown. */

import { readAddress, visitAddress } from "./address.js";
import { model, offers } from "./api.js";
import { Panel } from "./panel.js";
import { Tabs } from "./tabs.js";
import { analogy } from "./panels/analogy.js";
import { fill } from "./panels/fill.js";
import { pair } from "./panels/pair.js";
import { word } from "./panels/word.js";

const FIRST = fill.name;

const specs = [fill, analogy, pair, word];
const panels = new Map(specs.map((spec) => [spec.name, new Panel(spec, showModel)]));
const tabs = new Tabs((name) => {
  visitAddress(panels.get(name).address);
  open(); // at once: the next key is meant for the new panel
});
let shown = FIRST;

/** Show what the address says. */
async function open() {
  const { hash } = location;
  const { panel, state } = readAddress(hash);
  const known = panels.has(panel) && (panel !== word.name || (await hasNeighbours()));
  if (location.hash !== hash) return; // the address has changed meanwhile
  shown = known ? panel : FIRST;
  tabs.show(shown);
  panels.get(shown).open(known ? state : {});
  panels.get(shown).takeFocus();
}

/** True if the server does not answer: the query itself will report that. */
function hasNeighbours() {
  return offers("neighbours").catch(() => true);
}

/** Show the facts about the model, and the panels that the server has endpoints for. */
async function showModel() {
  const known = await model().catch(() => null);
  if (!known) return;
  if (known.questions.includes("neighbours")) tabs.reveal(word.name);
  const { model: name, words, licence } = known.facts;
  const facts = [`Model: ${name}`, `${words} words`, licence && `licence ${licence}`];
  document.getElementById("model").textContent = facts.filter(Boolean).join(" · ");
}

addEventListener("hashchange", open);
addEventListener("keydown", (event) => {
  const typing = event.target.closest("input:not([type=radio], [type=range])");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  panels.get(shown).focusFirstField();
});
showModel();
open();
