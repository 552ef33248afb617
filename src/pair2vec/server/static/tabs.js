/** The tabs, as WAI-ARIA describes them: one is in the tab order, arrow keys lead to the others. */

const STEPS = { ArrowRight: 1, ArrowLeft: -1 };

export class Tabs {
  #tabs;

  /** @param {(name: string) => void} onChoice Called with the name of a panel. */
  constructor(onChoice) {
    const list = document.querySelector("[role=tablist]");
    this.#tabs = [...list.querySelectorAll("[role=tab]")];
    list.addEventListener("click", (event) => {
      const tab = event.target.closest("[role=tab]");
      if (tab) onChoice(nameOf(tab));
    });
    list.addEventListener("keydown", (event) => {
      const tab = this.#beside(event.target, event.key);
      if (!tab || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      onChoice(nameOf(tab));
      tab.focus();
    });
  }

  /** Show a panel and hide the others. */
  show(name) {
    for (const tab of this.#tabs) {
      const shown = nameOf(tab) === name;
      tab.setAttribute("aria-selected", shown);
      tab.tabIndex = shown ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !shown;
    }
  }

  /** Show the tab of a panel that not every server has. */
  reveal(name) {
    this.#tabs.find((tab) => nameOf(tab) === name).hidden = false;
  }

  #beside(tab, key) {
    const offered = this.#tabs.filter((one) => !one.hidden);
    if (key === "Home") return offered[0];
    if (key === "End") return offered.at(-1);
    const index = offered.indexOf(tab) + STEPS[key];
    return offered[(index + offered.length) % offered.length]; // undefined for other keys
  }
}

function nameOf(tab) {
  return tab.id.replace("tab-", "");
}
