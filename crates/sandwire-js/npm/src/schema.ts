import type { Validator } from "./connection.js";
import { McpError } from "./error.js";
import type { ElicitResult, JsonObject, Tool } from "./protocol.js";
import { Wasm, type Glue, type WasmOption } from "./wasm.js";

export type { Validator } from "./connection.js";
export { McpError, type Failure, type McpErrorDetails } from "./error.js";
export type { WasmOption, WasmSource } from "./wasm.js";

/** One thing about a value that its schema does not allow. */
export interface Violation {
  /** Where in the value, as a JSON pointer; empty for all of it. */
  path: string;
  /** The keyword that does not hold. */
  keyword: string;
  /** What to do. */
  message: string;
}

/** How a schema is compiled. */
export interface SchemaOptions {
  /** Whether the formats `email`, `uri`, `date` and `date-time` are checked. By default they only describe. */
  formats?: boolean;
}

/** What the module exports; `src/schema.rs` says what each function does. */
interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  room(length: number): number;
  compile(formats: number, length: number): number;
  validate(schema: number, length: number): void;
  result(schema: number, length: number): void;
  forget(schema: number): void;
}

/** The module that runs. */
class Module implements Glue {
  declare _exports: Exports;
  _expressions = new Map<number, RegExp>();
  _latest = 0;
  _said: Violation[] = [];

  imports(): WebAssembly.Imports {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const text = (at: number, length: number) => decoder.decode(new Uint8Array(this._exports.memory.buffer, at >>> 0, length));
    return {
      js: {
        pattern: (at: number, length: number) => {
          try {
            this._expressions.set(++this._latest, new RegExp(text(at, length), "u"));
            return this._latest;
          } catch {
            return 0;
          }
        },
        matches: (pattern: number, at: number, length: number) => Number(this._expressions.get(pattern)!.test(text(at, length))),
        drop: (pattern: number) => void this._expressions.delete(pattern),
        said: (path: number, pathLength: number, keyword: number, keywordLength: number, message: number, messageLength: number) =>
          void this._said.push({
            path: text(path, pathLength),
            keyword: text(keyword, keywordLength),
            message: text(message, messageLength),
          }),
      },
    };
  }

  start(instance: WebAssembly.Instance): void {
    this._exports = instance.exports as Exports;
  }

  /** Puts a text into the module's memory and gives its length. */
  _put(text: string): number {
    const bytes = new TextEncoder().encode(text);
    const at = this._exports.room(bytes.length);
    new Uint8Array(this._exports.memory.buffer, at >>> 0).set(bytes);
    return bytes.length;
  }

  /** What the module said since the last time. */
  _heard(): Violation[] {
    return this._said.splice(0);
  }
}

const wasm = /* @__PURE__ */ new Wasm(new Module(), () => new URL("./schema.wasm", import.meta.url));

/** Where the wasm module comes from. */
export function setWasm(source: WasmOption): void {
  wasm.provide(source);
}

const dropped = /* @__PURE__ */ new FinalizationRegistry<number>((number) => wasm._glue._exports.forget(number));

/** A schema that values are held against. */
export class Schema {
  #module: Module;
  #number: number;

  private constructor(module: Module, number: number) {
    this.#module = module;
    this.#number = number;
    dropped.register(this, number);
  }

  /** Compiles a schema of 2020-12 or draft-07: an object or a boolean. Nothing is fetched. */
  static compile(schema: unknown, options?: SchemaOptions): Promise<Schema> {
    return Schema.compileText(JSON.stringify(schema), options);
  }

  /** Compiles the JSON text of a schema. */
  static async compileText(schema: string, { formats = false }: SchemaOptions = {}): Promise<Schema> {
    const module = await wasm.load();
    const number = module._exports.compile(Number(formats), module._put(schema));
    const [error] = module._heard();
    if (error) throw new McpError("misuse", lines([error]));
    return new Schema(module, number);
  }

  /** What the schema does not allow about a value. */
  validate(value: unknown): Violation[] {
    return this.validateText(JSON.stringify(value) ?? "");
  }

  /** What the schema does not allow about a value that is JSON text. Its numbers keep all of their digits. */
  validateText(json: string): Violation[] {
    this.#module._exports.validate(this.#number, this.#module._put(json));
    return this.#module._heard();
  }

  /** @internal The same for the structured content of a tool's result. */
  _result(json: string): Violation[] {
    this.#module._exports.result(this.#number, this.#module._put(json));
    return this.#module._heard();
  }
}

type Listed = Map<string, { schema: unknown; compiled?: Promise<Schema> }>;

class Checks implements Validator {
  #listed = new WeakMap<object, Listed>();

  async result(connection: object, method: string, params: unknown, text: string): Promise<void> {
    if (method === "tools/list") this.#learn(connection, text);
    if (method !== "tools/call") return;
    const { name } = params as { name: string };
    const output = this.#listed.get(connection)?.get(name);
    if (!output) return;
    const schema = await (output.compiled ??= Schema.compile(output.schema)).catch((cause: Error) => {
      throw new McpError("misbehaved", `the tool ${name} has an output schema that cannot be used: ${cause.message}`, { cause });
    });
    const wrong = schema._result(text);
    if (wrong.length) throw new McpError("misbehaved", `the structured content of the tool ${name} is not what its output schema says: ${lines(wrong)}`);
  }

  async answer(method: string, params: JsonObject, answer: unknown): Promise<void> {
    const { action, content = {} } = answer as ElicitResult;
    const form = params["requestedSchema"];
    if (method !== "elicitation/create" || action !== "accept" || form === undefined) return;
    const wrong = (await Schema.compile(form, { formats: true })).validate(content);
    if (wrong.length) throw new McpError(-32603, `the form was not filled in as it asks to be: ${lines(wrong)}`);
  }

  notified(connection: object, method: string): void {
    if (method === "notifications/tools/list_changed") this.#listed.delete(connection);
  }

  #learn(connection: object, text: string): void {
    const { tools } = JSON.parse(text) as { tools?: Tool[] };
    if (!Array.isArray(tools)) return;
    const listed: Listed = this.#listed.get(connection) ?? new Map();
    this.#listed.set(connection, listed);
    for (const tool of tools) {
      if (tool?.outputSchema === undefined) listed.delete(tool?.name);
      else listed.set(tool.name, { schema: tool.outputSchema });
    }
  }
}

/**
 * The option `validator` of a client: structured content is held against the output schema of its tool, once that was
 * listed, and the answer to a form against the form.
 */
export const validator: Validator = /* @__PURE__ */ new Checks();

function lines(violations: Violation[]): string {
  return violations.map(({ path, message }) => (path ? `${path}: ${message}` : message)).join("\n");
}
