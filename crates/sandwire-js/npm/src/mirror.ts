import { encoder } from "./module.js";

/** A header field, and the way to the argument whose value it has. */
type Field = [name: string, ...path: string[]];

const KEYWORD = "x-mcp-header";
/** More annotations than fit into the head of a request make a schema invalid, as do names longer than these. */
const MAX_FIELDS = 64;
const MAX_PATH_BYTES = 1024;
const MISNAMED = "needs a name of its own that fits a header field";
const MISPLACED = "stands at no string, integer or boolean that `properties` lead to, or too often";

/**
 * @internal Arguments mirrored into `Mcp-Param-*` header fields of modern requests, where the input schemas that
 * `tools/list` told say `x-mcp-header`.
 */
export class Mirror {
  _tools = new Map<unknown, Field[]>();

  /** Learns from a page of tools. Gives the places of those that must not be used, and says why of each. */
  _learn(page: string, warn: (reason: string) => void): Set<number> {
    const refused = new Set<number>();
    if (this._tools.size || page.includes(KEYWORD)) {
      const { tools } = JSON.parse(page);
      if (Array.isArray(tools)) {
        tools.forEach((tool, at) => {
          const { name, inputSchema } = tool ?? {};
          const fields: Field[] = [];
          if (typeof name !== "string") return;
          this._tools.delete(name);
          try {
            find(inputSchema, [], fields);
            if (fields.length) this._tools.set(name, fields);
          } catch (fault) {
            refused.add(at);
            warn(`the tool ${name} is left out: ${KEYWORD} ${fault}`);
          }
        });
      }
    }
    return refused;
  }

  /** Adds the fields of a call. */
  _add(headers: Record<string, string>, body: string): void {
    if (!this._tools.size || headers["mcp-method"] !== "tools/call") return;
    // Digits go as they are written, where the host tells.
    const digits = (_: string, value: unknown, context?: { source?: string }) =>
      typeof value === "number" ? (context?.source ?? `${value}`) : value;
    const { params } = JSON.parse(body, digits);
    for (const [name, ...path] of this._tools.get(params.name) ?? []) {
      const value = path.reduce((at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined), params.arguments);
      if (typeof value === "string" || typeof value === "boolean") headers[name] = encoded(`${value}`);
    }
  }
}

/** Finds the annotations of a schema that is reached through `properties` alone. Throws what is wrong with them. */
function find(schema: unknown, path: string[], found: Field[]): void {
  if (!isObject(schema)) return;
  const { [KEYWORD]: token, type, ...rest } = schema;
  if (token !== undefined) {
    const name = `Mcp-Param-${token}`;
    const taken = found.some(([other]) => other.toLowerCase() === name.toLowerCase());
    if (taken || typeof token !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(token)) throw MISNAMED;
    const fits = found.push([name, ...path]) <= MAX_FIELDS && encoder.encode(path.join("")).length <= MAX_PATH_BYTES;
    if (!fits || !path.length || !["string", "integer", "boolean"].includes(type as string)) throw MISPLACED;
  }
  for (const [key, value] of Object.entries(rest)) {
    if (key === "properties" && isObject(value)) Object.entries(value).forEach(([name, inner]) => find(inner, [...path, name], found));
    else if (!hasNone(key, value)) throw MISPLACED;
  }
}

/** Whether a part of a schema in which no annotation may stand has none. */
function hasNone(key: string, value: unknown): boolean {
  if (/^(default|enum|const|examples)$/.test(key)) return true;
  if (key === KEYWORD) return false;
  // Members of these are named by the author; what they hold is schemas again.
  const named = /^(properties|patternProperties|\$defs|definitions|dependentSchemas)$/.test(key) || Array.isArray(value);
  return typeof value !== "object" || Object.entries(value ?? {}).every(([inner, value]) => hasNone(named ? "" : inner, value));
}

/** A value as a header field can carry it: as it is, or in base64 between markers. */
function encoded(value: string): string {
  if (/^(?!=\?base64(?=\?).*\?=$)([!-~]([ -~]*[!-~])?)?$/.test(value)) return value;
  const bytes = Array.from(encoder.encode(value), (byte) => String.fromCharCode(byte));
  return `=?base64?${btoa(bytes.join(""))}?=`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
