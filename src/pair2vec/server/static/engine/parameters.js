/** The parameters of a question, as Python declares them (`server/parameters.py`). */

import { QuestionError, quoted } from "./text.js";

const BOOLEANS = new Map([["true", true], ["1", true], ["false", false], ["0", false]]);

/**
 * The values in the parameters' types, with defaults for those that are missing or empty.
 *
 * @param {Object[]} declared As in `engine.json`.
 * @param {Object<string, any>} given
 */
export function readParameters(declared, given) {
  const names = declared.map(({ name }) => name);
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) {
      throw new QuestionError(`${quoted(name)} is not a parameter; there are ${names.toSorted().join(", ")}`);
    }
  }
  return Object.fromEntries(declared.map((parameter) => [parameter.name, valueOf(parameter, given[parameter.name])]));
}

function valueOf(parameter, value) {
  const isMissing = value === undefined || value === null || value === "" || (Array.isArray(value) && !value.length);
  if (!isMissing) return READ[parameter.value_type](parameter, value);
  if (!parameter.required) return parameter.default;
  throw new QuestionError(`${parameter.name} is missing: ${parameter.description}`);
}

const READ = {
  string: readString,
  strings(parameter, value) {
    const values = [value].flat();
    if (values.length > parameter.max_items) {
      throw new QuestionError(`${parameter.name}: ${values.length} are too many; at most ${parameter.max_items}`);
    }
    return values.map((one) => readString(parameter, one));
  },
  boolean({ name }, value) {
    const parsed = BOOLEANS.get(String(value));
    if (parsed === undefined) throw new QuestionError(`${name} is ${quoted(String(value))}; it must be true or false`);
    return parsed;
  },
  number: readNumber,
  integer: readNumber,
};

function readString({ name, max_length: most, choices }, value) {
  if (typeof value !== "string") throw new QuestionError(`${name} is ${JSON.stringify(value)}; it must be a string`);
  const { length } = [...value];
  if (length > most) throw new QuestionError(`${name} has ${length.toLocaleString("en")} characters; it may have ${most}`);
  if (choices.length && !choices.includes(value)) {
    throw new QuestionError(`${name} is ${quoted(value)}; it must be one of ${choices.join(", ")}`);
  }
  return value;
}

function readNumber({ name, value_type: type, minimum, maximum }, value) {
  const number = typeof value === "string" && !value.trim() ? NaN : Number(value);
  if (!Number.isFinite(number) || (type === "integer" && !Number.isInteger(number))) {
    const expected = type === "integer" ? "a whole number" : "a number";
    throw new QuestionError(`${name} is ${quoted(String(value))}; it must be ${expected}`);
  }
  const [low, high] = [minimum ?? -Infinity, maximum ?? Infinity];
  if (number < low || number > high) throw new QuestionError(`${name} is ${number}; it must be from ${low} to ${high}`);
  return number;
}
