/** Questions of the games, made from what `play` answers; a number is always the same question. */

const CHOICES = 4;

/** @typedef {{a: string, b: string, x: string, right: string[], choices: string[], about: string}} AnalogyQuestion */

/**
 * Two pairs of one relation that share no word, and answers of which one is right.
 *
 * @returns {AnalogyQuestion | null} None where the model knows too few of the words.
 */
export function analogyQuestion({ analogies }, number) {
  const random = numbersFrom(number);
  const all = analogies.flatMap(({ name, pairs }) => pairs.map(([x, right]) => ({ name, x, right })));
  for (const { name, x, right } of shuffled(all, random)) {
    const others = shuffled(all, random).filter((one) => one.name === name && !shareWords([x, ...right], [one.x, ...one.right]));
    if (!others.length) continue;
    const { x: a, right: [b] } = others[0];
    const wrong = [...new Set(others.slice(1).map((one) => one.right[0]))].filter((word) => word !== a && word !== b);
    if (wrong.length < CHOICES - 1) continue;
    const choices = shuffled([right[0], ...wrong.slice(0, CHOICES - 1)], random);
    return { a, b, x, right, choices, about: name };
  }
  return null;
}

/**
 * Words of one group and one of another, which has none of the same words.
 *
 * @returns {{words: string[], odd: string, group: string, other: string} | null}
 */
export function oddQuestion({ groups }, number) {
  const random = numbersFrom(number);
  for (const group of shuffled(groups, random)) {
    const other = shuffled(groups, random).find(({ words }) => !shareWords(words, group.words));
    if (!other) continue;
    const [odd] = shuffled(other.words, random);
    const alike = shuffled(group.words, random).slice(0, random() < 0.5 ? CHOICES - 1 : CHOICES);
    return { words: shuffled([...alike, odd], random), odd, group: group.name, other: other.name };
  }
  return null;
}

function shareWords(some, others) {
  return some.some((word) => others.includes(word));
}

/** Random numbers from 0 to 1 (mulberry32). */
function numbersFrom(seed) {
  let state = Math.imul(seed, 0x9e3779b1);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(values, random) {
  const keyed = values.map((value) => ({ value, key: random() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ value }) => value);
}
