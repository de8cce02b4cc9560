/** Reading a JSON Schema: references inside the document, optional types, choices. */
import type { Schema } from "../json";
import type { Choice } from "./form";

const MAX_STEPS = 16;

/** Follows references inside the same document; what cannot be followed is returned as it is. */
export function resolve(root: Schema, schema: Schema | boolean): Schema {
  let current = typeof schema === "boolean" ? {} : schema;
  for (let step = 0; step < MAX_STEPS && current.$ref !== undefined; step += 1) {
    const target = lookUp(root, current.$ref);
    if (!target) return current;
    const { $ref: _, ...beside } = current;
    current = { ...target, ...beside };
  }
  return current;
}

function lookUp(root: Schema, reference: string): Schema | undefined {
  if (!reference.startsWith("#")) return undefined;
  let place: unknown = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof place !== "object" || place === null) return undefined;
    place = (place as Record<string, unknown>)[key];
  }
  return typeof place === "object" && place !== null ? (place as Schema) : undefined;
}

/** Takes the `null` out of “this type or null”, since leaving a field out says the same. */
export function optionalOf(root: Schema, schema: Schema): Schema {
  const branches = schema.anyOf ?? schema.oneOf;
  if (!branches) {
    return schema.allOf?.length === 1 ? { ...resolve(root, schema.allOf[0] ?? {}), ...without(schema, "allOf") } : schema;
  }
  const real = branches.map((branch) => resolve(root, branch)).filter((branch) => branch.type !== "null");
  const only = real.length === 1 ? real[0] : undefined;
  return only ? { ...only, ...without(without(schema, "anyOf"), "oneOf") } : schema;
}

function without<K extends keyof Schema>(schema: Schema, key: K): Omit<Schema, K> {
  const { [key]: _, ...rest } = schema;
  return rest;
}

/** The one type of a schema the form can edit, or `json`. */
export function typeOf(schema: Schema): string {
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  if (types.length === 1 && !schema.anyOf && !schema.oneOf) {
    const type = types[0] ?? "json";
    return type === "object" && !schema.properties && schema.additionalProperties !== false ? freeObject(schema) : type;
  }
  return types.length === 0 && schema.properties ? "object" : "json";
}

/** An object without named properties: nothing to fill, unless it takes any. */
function freeObject(schema: Schema): string {
  return schema.additionalProperties === undefined ? "object" : "json";
}

/** The values of an enumeration with the words to show, whichever way the schema spells it. */
export function choicesOf(schema: Schema): Choice[] | undefined {
  if (schema.enum) {
    return schema.enum
      .map((value, index) => ({ value, label: schema.enumNames?.[index] ?? say(value) }))
      .filter((choice) => choice.value !== null);
  }
  const branches = schema.oneOf ?? schema.anyOf;
  if (!branches?.length || !branches.every((branch) => branch.const !== undefined)) return undefined;
  return branches.map((branch) => ({ value: branch.const ?? null, label: branch.title ?? say(branch.const) }));
}

function say(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
