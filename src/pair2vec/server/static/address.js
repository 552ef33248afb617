/** What is asked, in the address: `#fill?pattern=in+X+%2C+Y+.&x=portland`. */

/** Whether the present address is one to come back to. */
let settled = true;

/**
 * @param {string} panel
 * @param {Object<string, string>} state
 */
export function addressOf(panel, state) {
  const query = new URLSearchParams(state).toString();
  return query ? `#${panel}?${query}` : `#${panel}`;
}

/** @returns {{panel: string, state: Object<string, string>}} */
export function readAddress(hash = location.hash) {
  const [, panel, query] = /^#?([^?]*)\??(.*)$/s.exec(hash);
  return { panel, state: Object.fromEntries(new URLSearchParams(query)) };
}

/** Go to an address, with a way back to the present one; no event tells of it. */
export function visitAddress(address) {
  if (address !== location.hash) history.pushState(null, "", address);
}

/**
 * Show what is asked in the address. Typing changes it with every letter: only the first change
 * after an address that one would come back to leaves that one behind in the history.
 */
export function writeAddress(panel, state) {
  const address = addressOf(panel, state);
  if (address === location.hash) return;
  if (settled) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  settled = false;
}

/** The same in place of the present address, which says less. */
export function completeAddress(panel, state) {
  history.replaceState(null, "", addressOf(panel, state));
  settleAddress();
}

/** The present address is one to come back to. */
export function settleAddress() {
  settled = true;
}
