/** From a JSON Schema to a tree of editable nodes, and from the nodes back to a value. */
import type { Json, JsonObject, Schema } from "../json";
import { choicesOf, optionalOf, resolve, typeOf } from "./schema";

interface Base {
  /** Tells the node from every other on the page. */
  id: number;
  /** Property name, or the index of an array item. */
  name: string;
  /** Dotted path from the root, used in messages and test ids. */
  path: string;
  schema: Schema;
  required: boolean;
}
export interface TextNode extends Base {
  kind: "string";
  text: string;
}
export interface NumberNode extends Base {
  kind: "number" | "integer";
  text: string;
}
export interface BooleanNode extends Base {
  kind: "boolean";
  value: boolean | undefined;
}
export interface ChoiceNode extends Base {
  kind: "choice";
  choices: Choice[];
  index: number;
}
export interface ManyNode extends Base {
  kind: "many";
  choices: Choice[];
  picked: Set<number>;
}
export interface ArrayNode extends Base {
  kind: "array";
  items: FormNode[];
  add: () => void;
}
export interface ObjectNode extends Base {
  kind: "object";
  children: FormNode[];
  /** An optional object is sent only when it was asked for. */
  included: boolean;
}
export interface JsonNode extends Base {
  kind: "json";
  text: string;
}
export interface Choice {
  value: Json;
  label: string;
}
export type FormNode =
  | TextNode
  | NumberNode
  | BooleanNode
  | ChoiceNode
  | ManyNode
  | ArrayNode
  | ObjectNode
  | JsonNode;

const MAX_DEPTH = 6;

let nextId = 1;

/** The form for a whole input schema, filled with `values`, else with its defaults. */
export function formOf(schema: Schema, values?: JsonObject): FormNode {
  return build(schema, schema, { name: "", path: "", required: true }, values, 0);
}

type Place = Pick<Base, "name" | "path" | "required">;

function build(root: Schema, given: Schema | boolean, place: Place, preset: Json | undefined, depth: number): FormNode {
  const schema = optionalOf(root, resolve(root, given));
  const base = { id: nextId++, ...place, schema };
  const start = preset ?? schema.default ?? schema.const;
  const choices = choicesOf(schema);
  if (choices) return { ...base, kind: "choice", choices, index: indexOf(choices, start) };

  switch (depth < MAX_DEPTH ? typeOf(schema) : "json") {
    case "string":
      return { ...base, kind: "string", text: typeof start === "string" ? start : "" };
    case "number":
    case "integer":
      return {
        ...base,
        kind: typeOf(schema) === "integer" ? "integer" : "number",
        text: typeof start === "number" ? String(start) : "",
      };
    case "boolean": {
      const value = typeof start === "boolean" ? start : place.required ? false : undefined;
      return { ...base, kind: "boolean", value };
    }
    case "array":
      return buildArray(root, base, start, depth);
    case "object": {
      const values = isObject(start) ? start : {};
      const children = Object.entries(schema.properties ?? {}).map(([name, property]) => {
        const required = schema.required?.includes(name) ?? false;
        return build(root, property, { name, path: join(place.path, name), required }, values[name], depth + 1);
      });
      return { ...base, kind: "object", children, included: place.required || start !== undefined };
    }
    default:
      return { ...base, kind: "json", text: start === undefined ? "" : JSON.stringify(start, null, 2) };
  }
}

function buildArray(root: Schema, base: Base, start: Json | undefined, depth: number): FormNode {
  const { items } = base.schema;
  if (typeof items !== "object" || Array.isArray(items)) {
    return { ...base, kind: "json", text: start === undefined ? "" : JSON.stringify(start, null, 2) };
  }
  const present = Array.isArray(start) ? start : [];
  const choices = choicesOf(resolve(root, items));
  if (choices) {
    const picked = new Set<number>();
    for (const value of present) {
      const index = indexOf(choices, value);
      if (index >= 0) picked.add(index);
    }
    return { ...base, kind: "many", choices, picked };
  }
  const node: ArrayNode = { ...base, kind: "array", items: [], add: () => append(undefined) };
  const append = (value: Json | undefined) => {
    const name = String(node.items.length);
    node.items.push(build(root, items, { name, path: join(base.path, name), required: true }, value, depth + 1));
  };
  const least = base.required ? (base.schema.minItems ?? 0) : 0;
  for (const value of present) append(value);
  while (node.items.length < least) append(undefined);
  return node;
}

/** Takes an item out of an array and renumbers what follows. */
export function removeItem(node: ArrayNode, item: FormNode): void {
  node.items = node.items.filter((other) => other !== item);
  node.items.forEach((other, index) => rename(other, String(index), join(node.path, String(index))));
}

function rename(node: FormNode, name: string, path: string): void {
  node.name = name;
  node.path = path;
  if (node.kind === "object") for (const child of node.children) rename(child, child.name, join(path, child.name));
  if (node.kind === "array") for (const item of node.items) rename(item, item.name, join(path, item.name));
}

/** The value a form stands for; `undefined` when it is left out. Problems are added to `problems`. */
export function valueOf(node: FormNode, problems: string[]): Json | undefined {
  switch (node.kind) {
    case "string":
      return node.text === "" && !node.required ? undefined : node.text;
    case "number":
    case "integer":
      return numberOf(node, problems);
    case "boolean":
      return node.value;
    case "choice": {
      if (node.index < 0 && node.required) problems.push(`${label(node)}: choose a value`);
      return node.choices[node.index]?.value;
    }
    case "many": {
      const values = node.choices.filter((_, index) => node.picked.has(index)).map((choice) => choice.value);
      return values.length === 0 && !node.required ? undefined : values;
    }
    case "array": {
      const values = node.items.map((item) => valueOf(item, problems) ?? null);
      return values.length === 0 && !node.required ? undefined : values;
    }
    case "object": {
      if (!node.included) return undefined;
      const found: JsonObject = {};
      for (const child of node.children) {
        const value = valueOf(child, problems);
        if (value !== undefined) found[child.name] = value;
      }
      return found;
    }
    case "json":
      return jsonOf(node, problems);
  }
}

function numberOf(node: NumberNode, problems: string[]): number | undefined {
  const text = node.text.trim();
  if (text === "") {
    if (node.required) problems.push(`${label(node)}: a number is missing`);
    return undefined;
  }
  const value = Number(text);
  if (!Number.isFinite(value)) problems.push(`${label(node)}: “${text}” is not a number`);
  else if (node.kind === "integer" && !Number.isInteger(value)) problems.push(`${label(node)}: must be whole`);
  else if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    problems.push(`${label(node)}: beyond 2⁵³ a page's numbers lose digits`);
  }
  return value;
}

function jsonOf(node: JsonNode, problems: string[]): Json | undefined {
  if (node.text.trim() === "") {
    if (node.required && node.path !== "") problems.push(`${label(node)}: a value is missing`);
    return node.path === "" ? {} : undefined;
  }
  try {
    return JSON.parse(node.text) as Json;
  } catch (error) {
    problems.push(`${label(node)}: ${error instanceof Error ? error.message : "not JSON"}`);
    return undefined;
  }
}

function label(node: Base): string {
  return node.path === "" ? "arguments" : node.path;
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function indexOf(choices: Choice[], value: Json | undefined): number {
  if (value === undefined) return -1;
  const wanted = JSON.stringify(value);
  return choices.findIndex((choice) => JSON.stringify(choice.value) === wanted);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
