/** The query in the address: `#fill?pattern=in+X+%2C+Y+.&x=portland`. */

/** Whether the present address stays in the history. */
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

/** Go to an address and keep the present one in the history; fires no event. */
export function visitAddress(address) {
  if (address !== location.hash) history.pushState(null, "", address);
}

/**
 * Write the query into the address. Typing changes it with every letter: only the first change
 * after a settled address adds an entry to the history, the others replace it.
 */
export function writeAddress(panel, state) {
  const address = addressOf(panel, state);
  if (address === location.hash) return;
  if (settled) history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  settled = false;
}

/** Replace the present address by a complete one. */
export function completeAddress(panel, state) {
  history.replaceState(null, "", addressOf(panel, state));
  settleAddress();
}

/** Keep the present address in the history. */
export function settleAddress() {
  settled = true;
}
