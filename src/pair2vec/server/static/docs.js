/** The API page: paths, parameters and schemas of openapi.json. */

import { element } from "./elements.js";

const main = document.getElementById("document");
const REF = "#/components/schemas/";

function show({ info, paths, components }) {
  const parts = Object.entries(paths).map(([path, methods]) => pathPart(path, methods));
  const schemas = Object.entries(components.schemas).map(([name, schema]) => schemaPart(name, schema));
  main.replaceChildren(
    element("p", {}, `${info.title} ${info.version}. ${info.description}`),
    ...parts,
    element("h2", {}, "Schemas"),
    ...schemas,
  );
}

function pathPart(path, methods) {
  const { get, post } = methods;
  const names = Object.keys(methods).join(", ").toUpperCase();
  const content = [element("h2", {}, element("code", {}, path), ` ${names}`), element("p", {}, get.summary)];
  if (get.parameters?.length) content.push(table(get.parameters));
  if (post) content.push(element("p", {}, "Body: ", ...links(post.requestBody)));
  content.push(element("p", {}, "Answer: ", ...links((post ?? get).responses["200"])));
  const errors = Object.entries(get.responses).filter(([status]) => status !== "200");
  if (errors.length) {
    const rows = errors.map(([status, { description }]) => element("li", {}, `${status}: ${description}`));
    content.push(element("details", {}, element("summary", {}, "Errors"), element("ul", {}, ...rows)));
  }
  return element("section", { class: "part", id: path.slice(1) }, ...content);
}

function table(parameters) {
  const rows = parameters.map(({ name, required, description, schema }) =>
    row("td", element("code", {}, name), required ? "required" : "", range(schema), description),
  );
  return element("table", {}, row("th", "Parameter", "", "Values", "Meaning"), ...rows);
}

function row(tag, ...cells) {
  return element("tr", {}, ...cells.map((cell) => element(tag, {}, cell)));
}

/** The values of a schema in words. */
function range({ type, items, enum: choices, minimum, maximum, maxLength, maxItems, default: usual }) {
  const limits = [
    choices ? choices.join(", ") : items ? `list of ${items.type}s` : type,
    minimum !== undefined && `${minimum} to ${maximum}`,
    (maxLength ?? items?.maxLength) && !choices && `up to ${maxLength ?? items.maxLength} characters`,
    maxItems && `up to ${maxItems} of them`,
    usual !== undefined && `default ${usual}`,
  ];
  return limits.filter(Boolean).join("; ");
}

/** Links to the schemas of a body or a response. */
function links({ content }) {
  const [[media, { schema }]] = Object.entries(content);
  const names = (schema.oneOf ?? [schema]).map(({ $ref }) => $ref?.slice(REF.length));
  const shown = names.map((name) => (name ? element("a", { href: `#${name}` }, name) : media));
  return shown.flatMap((link, n) => (n ? [" or ", link] : [link]));
}

function schemaPart(name, schema) {
  const text = JSON.stringify(schema, null, 2).replaceAll(REF, "");
  return element("details", { id: name }, element("summary", {}, name), element("pre", {}, text));
}

/** Open the schema that the address names. */
function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named?.tagName === "DETAILS") named.open = true;
  named?.scrollIntoView();
}

async function load() {
  const response = await fetch("openapi.json").catch(() => null);
  if (response?.ok) {
    show(await response.json());
    openNamed();
  } else {
    const why = response?.status === 503 ? "is still loading its model" : "does not answer";
    main.replaceChildren(element("p", { class: "message failed" }, `The server ${why}. Load this page again.`));
  }
}

addEventListener("hashchange", openNamed);
load();
