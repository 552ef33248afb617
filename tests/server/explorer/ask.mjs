// Answers questions, given as JSON on standard input, by the npm package in the folder that is named.
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { QuestionError, load } = await import(pathToFileURL(`${process.argv[2]}/engine.js`));
const model = await load();
const { tokeniser } = model.space.vocabulary;

function answer([name, parameters]) {
  if (name === "tokens") return tokeniser.tokens(parameters.text);
  try {
    return model.ask(name, parameters);
  } catch (error) {
    if (!(error instanceof QuestionError)) throw error;
    const { message, word, alike } = error;
    return word ? { error: message, word, alike } : { error: message };
  }
}

console.log(JSON.stringify(JSON.parse(await text(process.stdin)).map(answer)));
