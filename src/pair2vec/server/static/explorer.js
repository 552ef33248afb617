/** The explorer: panels that query the server; the address says which is shown. */

import { readAddress, visitAddress } from "./address.js";
import { localModel, model, offers } from "./api.js";
import { watchLoading } from "./engine_client.js";
import { Panel } from "./panel.js";
import { Tabs } from "./tabs.js";
import { analogy } from "./panels/analogy.js";
import { fill } from "./panels/fill.js";
import { map } from "./panels/map.js";
import { opposed } from "./panels/opposed.js";
import { pair } from "./panels/pair.js";
import { plane } from "./panels/plane.js";
import { play } from "./panels/play.js";
import { relate } from "./panels/relate.js";
import { word } from "./panels/word.js";

const specs = [relate, opposed, fill, analogy, plane, pair, map, word, play];
/** The endpoints of panels that not every server has. */
const needed = new Map([
  [relate.name, "relate"],
  [opposed.name, "opposed"],
  [map.name, "neighbours"],
  [word.name, "neighbours"],
  [play.name, "play"],
]);
const panels = new Map(specs.map((spec) => [spec.name, new Panel(spec, showModel)]));
const tabs = new Tabs((name) => {
  visitAddress(panels.get(name).address);
  open(); // at once: the next key is meant for the new panel
});
let shown = relate.name;

/** Show what the address says. */
async function open() {
  const { hash } = location;
  const { panel, state } = readAddress(hash);
  const known = panels.has(panel) && (!needed.has(panel) || (await isOffered(panel)));
  const first = known || (await isOffered(relate.name)) ? relate.name : fill.name;
  if (location.hash !== hash) return; // the address has changed meanwhile
  shown = known ? panel : first;
  tabs.show(shown);
  panels.get(shown).open(known ? state : {});
  panels.get(shown).takeFocus();
}

/** True if the server does not answer: the query itself will report that. */
function isOffered(panel) {
  return offers(needed.get(panel)).catch(() => true);
}

/** Show the facts about the model, and the panels that the server has endpoints for. */
async function showModel() {
  const known = await model().catch(() => null);
  if (!known) return;
  for (const [panel, endpoint] of needed) {
    if (known.questions.includes(endpoint)) tabs.reveal(panel);
  }
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
if (localModel) {
  document.getElementById("api").hidden = true;
  watchLoading((loaded, size) => {
    const [part, whole] = [loaded, size].map((bytes) => Math.round(bytes / 1e6));
    document.getElementById("model").textContent = `Loading the model: ${part} of ${whole} MB`;
  });
  // Only pages of https and of this machine may be kept for later.
  if (location.protocol !== "file:") navigator.serviceWorker?.register("service_worker.js").catch(() => null);
}
showModel();
open();
