/** The explorer: panels that ask the server, one of them shown, as the address says. */

import { readAddress, visitAddress } from "./address.js";
import { model, offers } from "./api.js";
import { Panel } from "./panel.js";
import { Tabs } from "./tabs.js";
import { analogy } from "./panels/analogy.js";
import { fill } from "./panels/fill.js";
import { pair } from "./panels/pair.js";
import { word } from "./panels/word.js";

const FIRST = fill.name;

const kinds = [fill, analogy, pair, word];
const panels = new Map(kinds.map((kind) => [kind.name, new Panel(kind, showModel)]));
const tabs = new Tabs((name) => {
  visitAddress(panels.get(name).address);
  open(); // at once: the next key is meant for the panel that it leads to
});
let shown = FIRST;

/** Show what the address says. */
async function open() {
  const { hash } = location;
  const { panel, state } = readAddress(hash);
  const known = panels.has(panel) && (panel !== word.name || (await hasNeighbours()));
  if (location.hash !== hash) return; // led elsewhere meanwhile
  shown = known ? panel : FIRST;
  tabs.show(shown);
  panels.get(shown).open(known ? state : {});
  panels.get(shown).takeFocus();
}

/** Only the server knows; when it does not answer, the question itself will say so. */
function hasNeighbours() {
  return offers("neighbours").catch(() => true);
}

/** What there is to know of the model, and what it can be asked; nothing while it is not known. */
async function showModel() {
  const known = await model().catch(() => null);
  if (!known) return;
  if (known.questions.includes("neighbours")) tabs.reveal(word.name);
  const { model: name, words, licence } = known.facts;
  const said = [`Model: ${name}`, `${words} words`, licence && `licence ${licence}`];
  document.getElementById("model").textContent = said.filter(Boolean).join(" · ");
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
