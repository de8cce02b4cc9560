/** Arguments being prepared: kept while the user looks at something else, checked before they are sent. */
import type { Json, JsonObject, Schema } from "./json";
import { formOf, valueOf } from "./schema/form";
import { changed, state, type Draft } from "./state";

/** The draft of a list entry, made from its schema the first time and when the server changes it. */
export function draftOf(key: string, schema: Schema): Draft {
  const source = JSON.stringify(schema);
  const known = state.drafts.get(key);
  if (known?.source === source) return known;
  const draft = newDraft(schema);
  state.drafts.set(key, draft);
  return draft;
}

/** A fresh draft, filled with the schema's defaults. */
export function newDraft(schema: Schema): Draft {
  return { source: JSON.stringify(schema), form: formOf(schema), mode: "form", text: "", problems: [] };
}

/** The arguments to send, or nothing after noting what is wrong with them. */
export function preparedOf(draft: Draft): JsonObject | undefined {
  draft.problems = [];
  const value = draft.mode === "form" ? valueOf(draft.form, draft.problems) : parsed(draft);
  changed();
  if (draft.problems.length > 0) return undefined;
  if (isObject(value)) return value;
  draft.problems.push("arguments: must be a JSON object");
  return undefined;
}

/** Changes between the form and the text; each starts as what the other says. */
export function switchMode(draft: Draft): void {
  draft.problems = [];
  if (draft.mode === "form") {
    draft.text = JSON.stringify(valueOf(draft.form, []) ?? {}, null, 2);
    draft.mode = "json";
  } else {
    const values = preparedOf(draft);
    if (!values) return;
    draft.form = formOf(JSON.parse(draft.source) as Schema, values);
    draft.mode = "form";
  }
  changed();
}

function parsed(draft: Draft): Json | undefined {
  try {
    return JSON.parse(draft.text) as Json;
  } catch (error) {
    draft.problems.push(`arguments: ${error instanceof Error ? error.message : "not JSON"}`);
    return undefined;
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
