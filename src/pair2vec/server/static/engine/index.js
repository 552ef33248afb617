/**
 * A model that `pair2vec explorer` wrote, in a browser, a worker or node:
 *
 *     const model = await openModel(new URL("./model/", import.meta.url));
 *     model.ask("relate", { x: "cheap", y: "expensive" });
 */

import { FILES, Model } from "./model.js";

export { QuestionError } from "./text.js";
export { UnknownWordError } from "./vocabulary.js";

/**
 * Open the model of a folder.
 *
 * @param {string | URL} folder Its address, with a slash at the end.
 * @param {(address: URL) => Promise<ArrayBuffer>} read Of one of its files.
 * @returns {Promise<Model>}
 */
export async function openModel(folder, read = readFile) {
  const contents = await Promise.all(FILES.map((name) => read(new URL(name, folder))));
  return new Model(Object.fromEntries(FILES.map((name, n) => [name, contents[n]])));
}

async function readFile(address) {
  if (address.protocol === "file:") {
    const { readFile: read } = await import("node:fs/promises");
    const { buffer, byteOffset, byteLength } = await read(address);
    return buffer.slice(byteOffset, byteOffset + byteLength);
  }
  const response = await fetch(address);
  if (!response.ok) throw new Error(`${address}: status ${response.status}`);
  return response.arrayBuffer();
}
