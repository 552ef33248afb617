/** A query's text as tokens, by the rules that corpora are tokenised with (`text/sentences.py`). */

const WORD = String.raw`[\p{L}\p{N}_]`;
const LETTER = String.raw`[\p{L}\p{No}\p{Nl}]`;
const MARK = String.raw`(?=[\u0080-\u30ff])\p{M}`;
const BLANKS = String.raw`\x00-\x09\x0b-\x20\x7f-\x9f\u202a-\u202e\u2061-\u206f\ufff9-\uffff`;
const TOKEN = new RegExp(
  [
    `${WORD}+(?:(?=[&'.,\\-]|${MARK})(?:` +
      [
        `(?:${MARK})+${WORD}*`,
        `&${WORD}+`, // at&t
        `'(?![sS](?!${WORD}))${WORD}+`, // don't, but france 's
        `(?:(?<!\\p{Nd})-|-(?!\\p{Nd}))${WORD}+`, // well-known, but 1990 - 95
        `(?<=\\p{Nd})(?:\\.|,(?=\\p{Nd}{3}(?!\\p{Nd})))\\p{Nd}${WORD}*`, // 1,000.5
        `(?<=(?<!${WORD})${LETTER})(?:\\.${LETTER}(?!${WORD}))+\\.?`, // u.s.
      ].join("|") +
      "))*",
    `'[sS](?!${WORD})`,
    `[^\\p{L}\\p{N}_\\s${BLANKS}]`,
  ].join("|"),
  "gu",
);

const RESPELLED = {
  "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "ʼ": "'", "\u2010": "-", "\u2011": "-", "\ufffd": " ",
  "。": "。\n", "！": "！\n", "？": "？\n", "।": "।\n",
};
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff\ufe0f]/g;
const SPACES = /[\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/g;
const REMOVED = [
  /https?:\/\/[^\s\x1c-\x1f\x85]+/g,
  /www\.[^\s\x1c-\x1f\x85]+/g,
  /formula_\p{Nd}+/gu,
  new RegExp(`\\([${BLANKS},;]*\\)`, "g"),
  new RegExp(`\\[[${BLANKS}]*\\]`, "g"),
  // An underscore joins words (new_york); elsewhere it is emphasis or a ruled line.
  /_(?:(?<![\p{L}\p{N}]_)|(?![\p{L}\p{N}]))/gu,
];
const ENTITY = /&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));/g;
const EDGE = "<s>";
const SLOTS = ["X", "Y"];
const DISTANCE = 5;
const COPULAS = new Set(["is", "are", "was", "were"]);
const TOO_MANY = "a context has one word left of X and one right of Y";
const WRONG_ORDER = "a context reads from X to Y";
const EXAMPLE = "'neither X nor Y'";

/** A question that cannot be answered as it is; the message is for people. */
export class QuestionError extends Error {}

export class Tokeniser {
  #entities;

  /** @param {Object<string, string>} entities What `&name;` and `&#number;` stand for, by `name` or `#number`. */
  constructor(entities) {
    this.#entities = new Map(Object.entries(entities));
  }

  /** The tokens of a query as the vocabulary spells them. */
  tokens(text) {
    return this.casedTokens(text).map(fold);
  }

  /** The same in their original case. */
  casedTokens(text) {
    return this.#normalised(text.replaceAll("\n", " ")).match(TOKEN) ?? [];
  }

  /** A pattern's tokens; only X and Y keep their case. */
  patternTokens(text) {
    return text.split(/(<s>)/).flatMap((part) => {
      const cased = part === EDGE ? [part] : this.casedTokens(part);
      return cased.map((token) => (SLOTS.includes(token) ? token : fold(token)));
    });
  }

  #normalised(text) {
    const decoded = text.replace(ENTITY, (entity, decimal, hexadecimal, name) => this.#decoded(entity, decimal, hexadecimal, name));
    const respelled = decoded
      .replace(SPACES, " ")
      .replace(INVISIBLE, "")
      .replace(/[“”„‘’ʼ\u2010\u2011\ufffd。！？।]/g, (character) => RESPELLED[character]);
    return REMOVED.reduce((line, removed) => line.replace(removed, " "), respelled);
  }

  #decoded(entity, decimal, hexadecimal, name) {
    if (!name) return this.#character(decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16));
    const whole = this.#entities.get(`${name};`);
    if (whole !== undefined) return whole;
    // Some need no semicolon: the longest of them that the name begins with.
    for (let length = name.length; length > 1; length -= 1) {
      const found = this.#entities.get(name.slice(0, length));
      if (found !== undefined) return `${found}${name.slice(length)};`;
    }
    return entity;
  }

  #character(code) {
    const exception = this.#entities.get(`#${code}`);
    if (exception !== undefined) return exception;
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return "\ufffd";
    const isNone = (code >= 0xfdd0 && code <= 0xfdef) || (code & 0xfffe) === 0xfffe;
    return isNone ? "" : String.fromCodePoint(code);
  }
}

/** A token as the vocabulary spells it. */
export function fold(token) {
  return token.toLowerCase().normalize("NFC");
}

/**
 * The words of a typed pattern; null is an outer word that it leaves open.
 *
 * @returns {{left: string | null, between: string[], right: string | null}}
 */
export function parsePattern(text, vocabulary) {
  const tokens = vocabulary.joinTokens(vocabulary.tokeniser.patternTokens(text));
  const where = `pattern ${quoted(text)}`;
  const [x, y] = SLOTS.map((slot) => slotPosition(slot, tokens, where));
  if (y < x) {
    throw new QuestionError(
      `${where}: Y comes before X; a context reads from X to Y, as in ${EXAMPLE} (swap the words of the pair instead)`,
    );
  }
  const [left, between, right] = [tokens.slice(0, x), tokens.slice(x + 1, y), tokens.slice(y + 1)];
  const hint = () => hintOf(text, vocabulary);
  checkLength(left, 1, "left of X", where, hint);
  checkLength(between, DISTANCE - 1, "between X and Y", where, hint);
  checkLength(right, 1, "right of Y", where, hint);
  if (between.includes(EDGE)) {
    throw new QuestionError(
      `${where}: ${EDGE} between X and Y; they always share a sentence, so ${EDGE} can only be the outer word`,
    );
  }
  return { left: left[0] ?? null, between, right: right[0] ?? null };
}

function slotPosition(slot, tokens, where) {
  const count = tokens.filter((token) => token === slot).length;
  if (count === 1) return tokens.indexOf(slot);
  const howMany = count ? `${count} of ${slot}` : `no ${slot} that stands alone`;
  throw new QuestionError(`${where}: ${howMany}; write one X and one Y, as in ${EXAMPLE}`);
}

function checkLength(words, most, place, where, hint) {
  if (words.length <= most) return;
  throw new QuestionError(
    `${where}: ${words.length} words ${place} (${words.join(" ")}); a context has at most ${most} there${hint()}`,
  );
}

function hintOf(text, vocabulary) {
  const nearest = nearestContextPattern(text, vocabulary);
  if (nearest.text === text) return "";
  const order = nearest.isExchanged ? ", with the words of X and Y exchanged" : "";
  return `; the nearest to ask for is ${quoted(nearest.text)}${order}`;
}

/**
 * The nearest pattern to a typed one that has the form of a context: X and Y change places in
 * *Y such as X*; of several outer words the inner one is kept; and *the capital of X is Y* becomes
 * *Y , the capital of X*.
 *
 * @returns {{text: string, isExchanged: boolean, reason: string}}
 */
export function nearestContextPattern(text, vocabulary) {
  const tokens = vocabulary.joinTokens(vocabulary.tokeniser.patternTokens(text));
  const [x, y] = SLOTS.map((slot) => slotPosition(slot, tokens, `pattern ${quoted(text)}`));
  let isExchanged = y < x;
  const [first, second] = [Math.min(x, y), Math.max(x, y)];
  let [left, between, right] = [tokens.slice(0, first), tokens.slice(first + 1, second), tokens.slice(second + 1)];
  if (!isExchanged && left.length <= 1 && right.length <= 1) return { text, isExchanged, reason: "" };
  const reason = left.length > 1 || right.length > 1 ? TOO_MANY : WRONG_ORDER;
  if (between.length === 1 && COPULAS.has(between[0]) && left.length > 1 && left.length < DISTANCE - 1) {
    [left, between, right] = [[], [",", ...left], []];
    isExchanged = !isExchanged;
  }
  const kept = [...left.slice(-1), "X", ...between, "Y", ...right.slice(0, 1)];
  return { text: kept.join(" "), isExchanged, reason };
}

/** A text in quotes, as Python's `repr` has it. */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t").replaceAll("\r", "\\r");
  return mark + (mark === "'" ? escaped.replaceAll("'", "\\'") : escaped) + mark;
}
