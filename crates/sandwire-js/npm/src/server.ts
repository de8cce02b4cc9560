import { Context } from "./context.js";
import { attempt, describe, isMcpError, McpError, messageOf } from "./error.js";
import type { Answerer, Checker, Host, ServerGlue } from "./host.js";
import type { PortLike } from "./port.js";
import type {
  CallToolResult, ContentBlock, GetPromptResult, Implementation, JsonObject, ObjectSchema, Prompt, PromptMessage,
  ReadResourceResult, Resource, ResourceContents, ServerCapabilities, Tool,
} from "./protocol.js";
import * as glue from "./server.glue.js";
import { matcher } from "./template.js";
import { Wasm, type WasmOption } from "./wasm.js";

export type { Context } from "./context.js";
export { McpError, type Failure, type McpErrorDetails } from "./error.js";
export type { PortLike } from "./port.js";
export type * from "./protocol.js";
export type { WasmOption, WasmSource } from "./wasm.js";

const wasm = /* @__PURE__ */ new Wasm(glue as ServerGlue, () => new URL("./server.wasm", import.meta.url));

/** Where the wasm module comes from. */
export function setWasm(source: WasmOption): void {
  wasm.provide(source);
}

/** What a server says about itself, and who may use it over HTTP. */
export interface ServerOptions {
  /** Advice for the model that uses this server. */
  instructions?: string;
  /** More capabilities than those of what is registered. */
  capabilities?: ServerCapabilities;
  /** The host names by which `fetch` may be reached, or `"any"`. By default this machine's. */
  hosts?: string[] | "any";
  /** The origins of the pages that may use `fetch`, or `"any"`. By default this machine's. */
  origins?: string[] | "any";
  /** Whether answers tell browsers which pages may read them. By default they do. */
  cors?: boolean;
  /** Hears of notifications of clients. */
  onNotification?: (method: string, params: JsonObject | undefined) => void;
}

/** `Omit` would forget the members of a type that has an index signature. */
type Without<T, K> = { [P in keyof T as P extends K ? never : P]: T[P] };

/** What a tool is, besides its name. */
export type ToolDefinition = Without<Tool, "name" | "inputSchema"> & { inputSchema?: ObjectSchema };
/** What a resource is, besides its address. */
export type ResourceDefinition = Without<Resource, "uri">;
/** What a prompt is, besides its name. */
export type PromptDefinition = Without<Prompt, "name">;

/** What a tool's function gives: text, a whole result, or a value that becomes text and structured content. */
export type ToolAnswer = string | CallToolResult | ContentBlock[] | JsonObject | number | boolean | null | undefined;

type Maybe<T> = T | PromiseLike<T>;
type Values = { [name: string]: string };

/** A tool's function. What it throws becomes a result that says so, a {@link McpError} with a number an error. */
export type ToolHandler<A = any> = (args: A, context: Context) => Maybe<ToolAnswer>;
/** Gives what is at an address. */
export type ResourceHandler = (uri: string, values: Values, context: Context) => Maybe<string | Uint8Array | ReadResourceResult>;
/** Gives a prompt's messages, or the text of the one it has. */
export type PromptHandler = (args: Values, context: Context) => Maybe<string | GetPromptResult>;
/** Proposes values for an argument of a prompt or a variable of a template. */
export type CompletionHandler = (value: string, known: Values) => Maybe<string[]>;

/** Answers a request outside the specification. */
export type MethodHandler<P = any> = (params: P, context: Context) => Maybe<JsonObject>;

/** To whom a method belongs. */
export interface MethodOptions {
  /** The id of its extension, such as `com.example/notes`. */
  extension?: string;
}

interface Entry<D, H> {
  definition: D;
  handler: H;
}

interface ToolEntry extends Entry<Tool, ToolHandler> {
  /** Made when they are first needed. */
  input?: Checker;
  output?: Checker;
}

interface ResourceEntry extends Entry<ResourceDefinition, ResourceHandler> {
  match: ((uri: string) => Values | undefined) | undefined;
}

/** A server whose tools, resources and prompts are functions of this program. */
export class Server {
  #info: Implementation;
  #options: ServerOptions;
  #host: Promise<Host> | undefined;
  #running: Host | undefined;
  #tools = new Map<string, ToolEntry>();
  #resources = new Map<string, ResourceEntry>();
  #prompts = new Map<string, Entry<Prompt, PromptHandler>>();
  #completions = new Map<string, CompletionHandler>();
  #methods = new Map<string, Entry<MethodOptions, MethodHandler>>();
  #calls = new Map<number, AbortController>();
  /** The questions that have no answer, each with the call it belongs to. */
  #questions = new Map<number, [token: number, resolve: (answer: { code: number; json: string }) => void]>();
  #asked = 0;

  constructor(info: Implementation, options: ServerOptions = {}) {
    if (typeof info?.name !== "string") throw new McpError("misuse", "a server needs a name and a version");
    this.#info = info;
    this.#options = options;
  }

  /**
   * Adds a tool, or replaces the one of this name. Arguments that its input schema does not allow never reach the handler:
   * the model is told what is wrong. Structured content that its output schema does not allow is not sent.
   */
  tool<A = any>(name: string, definition: ToolDefinition, handler: ToolHandler<A>): this {
    const tool = { name, inputSchema: { type: "object" } as ObjectSchema, ...definition };
    this.#tools.set(name, { definition: tool as Tool, handler });
    return this.#changed("tools");
  }

  /** Adds the resource at an address, or, if it has parts in braces, every resource that fits the template. */
  resource(uri: string, definition: ResourceDefinition, handler: ResourceHandler): this {
    const match = uri.includes("{") ? matcher(uri) : undefined;
    this.#resources.set(uri, { definition, handler, match });
    return this.#changed("resources");
  }

  /** Adds a prompt, or replaces the one of this name. */
  prompt(name: string, definition: PromptDefinition, handler: PromptHandler): this {
    this.#prompts.set(name, { definition: { name, ...definition } as Prompt, handler });
    return this.#changed("prompts");
  }

  /** Proposes values for an argument of the prompt `of`, or a variable of the template `of`. */
  completion(of: string, argument: string, handler: CompletionHandler): this {
    this.#completions.set(`${of} ${argument}`, handler);
    return this;
  }

  /**
   * Answers a request outside the specification with an object. With `extension`, whose settings are declared among the
   * capabilities, only for clients that declared it too; others are told to. To be called before the server serves.
   */
  method<P = any>(name: string, handler: MethodHandler<P>, options: MethodOptions = {}): this {
    this.#methods.set(name, { handler, definition: options });
    return this;
  }

  /** Takes a tool, a resource or a prompt away. Calls under way go on. */
  remove(kind: "tools" | "resources" | "prompts", name: string): boolean {
    const table: Map<string, unknown> = { tools: this.#tools, resources: this.#resources, prompts: this.#prompts }[kind];
    const had = table.delete(name);
    if (had) this.#changed(kind);
    return had;
  }

  /** Tells the clients that follow a resource that it changed. */
  resourceUpdated(uri: string): void {
    this.#changed(uri);
  }

  /** Serves a `MessagePort`, or whatever has its members. */
  async serve(port: PortLike): Promise<void> {
    (await this.#start()).serve(port);
  }

  /** Serves every port that this worker is sent. To be called before anything is awaited. */
  listen(scope: Pick<PortLike, "addEventListener"> = globalThis as unknown as PortLike): void {
    const serve = ({ ports }: MessageEvent) => ports.forEach((port) => this.serve(port));
    scope.addEventListener("message", serve);
    scope.addEventListener("connect", serve);
  }

  /** Answers an HTTP request: `export default server`, or a service worker's `respondWith`. */
  readonly fetch = async (request: Request): Promise<Response> => (await this.#start()).fetch(request);

  #changed(what: string): this {
    this.#running?.changed(what);
    return this;
  }

  #start(): Promise<Host> {
    return (this.#host ??= wasm.load().then(
      (glue) => {
        const { instructions = "", hosts, origins, cors = true } = this.#options;
        const capabilities = JSON.stringify(this.#capabilities());
        const host = new glue.Host(this.#answerer(), JSON.stringify(this.#info), capabilities, instructions, this.#named());
        host.admit(list(hosts), list(origins), cors);
        return (this.#running = host);
      },
      (error: unknown) => {
        this.#host = undefined;
        throw error;
      },
    ));
  }

  #capabilities(): ServerCapabilities {
    return {
      logging: {},
      ...(this.#tools.size && { tools: { listChanged: true } }),
      ...(this.#resources.size && { resources: { listChanged: true, subscribe: true } }),
      ...(this.#prompts.size && { prompts: { listChanged: true } }),
      ...(this.#completions.size && { completions: {} }),
      ...this.#extensions(),
      ...this.#options.capabilities,
    };
  }

  #answerer(): Answerer {
    return {
      call: (token, method, json, version) => void this.#call(token, method, json, version),
      dropped: (token) => {
        this.#calls.get(token)?.abort();
        this.#calls.delete(token);
        // A handler that waits for an answer ends here.
        for (const [question, [asker]] of this.#questions) if (asker === token) this.#questions.delete(question);
      },
      answered: (question, code, json) => {
        this.#questions.get(question)?.[1]({ code, json });
        this.#questions.delete(question);
      },
      notified: (method, json) => {
        const { onNotification } = this.#options;
        if (onNotification) queueMicrotask(() => onNotification(method, json ? JSON.parse(json) : undefined));
      },
      schema: (tool) => {
        const found = this.#tools.get(tool);
        // Nothing may be thrown through the module; a schema that is no JSON demands no header fields.
        return found && attempt(() => JSON.stringify(found.definition.inputSchema));
      },
    };
  }

  async #call(token: number, method: string, json: string, version: string): Promise<void> {
    const host = this.#running!;
    try {
      const params = json ? JSON.parse(json) : {};
      const answer = this.#answer(token, method, params, version);
      // Lists are answered before the module is left.
      const result = isPromise(answer) ? await answer : answer;
      const text = typeof result === "object" && result !== null ? JSON.stringify(result) : undefined;
      if (text === undefined) throw new McpError(-32603, `the handler of ${method} gave no result`);
      host.reply(token, 0, text, "");
    } catch (thrown) {
      const { code, message, data } = describe(thrown);
      host.reply(token, code, message, data);
    }
    this.#calls.delete(token);
  }

  #answer(token: number, method: string, params: any, version: string): Maybe<unknown> {
    switch (method) {
      case "tools/list":
        return { tools: definitions(this.#tools) };
      case "prompts/list":
        return { prompts: definitions(this.#prompts) };
      case "resources/list":
        return { resources: this.#addresses(false, "uri") };
      case "resources/templates/list":
        return { resourceTemplates: this.#addresses(true, "uriTemplate") };
      case "completion/complete":
        return this.#complete(params);
    }
    const abort = new AbortController();
    this.#calls.set(token, abort);
    const ask = (token: number, key: string, method: string, json: string) =>
      new Promise<{ code: number; json: string }>((resolve) => {
        const question = ++this.#asked;
        this.#questions.set(question, [token, resolve]);
        this.#running!.ask(token, question, key, method, json);
      });
    const context = new Context(this.#running!, token, abort.signal, version, params["_meta"], ask, unfit);
    switch (method) {
      case "tools/call":
        return this.#callTool(params, context);
      case "resources/read":
        return this.#read(params.uri, context);
      case "prompts/get":
        return this.#prompt(params, context);
      default: {
        const found = this.#methods.get(method);
        if (!found) throw new McpError(-32601, `unknown method: ${method}`);
        const { ["_meta"]: _, ...rest } = params;
        return found.handler(rest, context);
      }
    }
  }

  async #callTool(params: { name: string; arguments?: JsonObject }, context: Context): Promise<CallToolResult> {
    const tool = this.#tools.get(params.name);
    if (!tool) throw new McpError(-32602, `unknown tool: ${params.name}`);
    const args = argumentsOf(params, "tool");
    const { inputSchema, outputSchema } = tool.definition;
    const wrong = (tool.input ??= checker("input", inputSchema)).check(JSON.stringify(args));
    if (wrong) return { content: [text(`invalid arguments: ${wrong}`)], isError: true };
    try {
      const given = result(await tool.handler(args, context), outputSchema !== undefined);
      if (outputSchema && !given.isError) {
        const content = JSON.stringify(given.structuredContent);
        const unfit = content ? (tool.output ??= checker("output", outputSchema)).check(content) : "it has none";
        if (unfit) throw new McpError(-32603, `the tool's structured content is not what its output schema says: ${unfit}`);
      }
      return given;
    } catch (thrown) {
      if (isMcpError(thrown) && typeof thrown.code === "number") throw thrown;
      return { content: [text(messageOf(thrown))], isError: true };
    }
  }

  async #read(uri: unknown, context: Context): Promise<ReadResourceResult> {
    if (typeof uri !== "string") throw new McpError(-32602, "resources/read needs a uri");
    for (const [address, { definition, handler, match }] of this.#resources) {
      const values = match ? match(uri) : address === uri ? {} : undefined;
      if (!values) continue;
      const found = await handler(uri, values, context);
      if (typeof found === "object" && "contents" in found) return found;
      const { mimeType } = definition;
      const contents: ResourceContents = typeof found === "string" ? { uri, mimeType, text: found } : { uri, mimeType, blob: base64(found) };
      return { contents: [contents] };
    }
    throw new McpError(-32602, `unknown resource: ${uri}`, { data: { uri } });
  }

  async #prompt(params: { name: string; arguments?: Values }, context: Context): Promise<GetPromptResult> {
    const prompt = this.#prompts.get(params.name);
    if (!prompt) throw new McpError(-32602, `unknown prompt: ${params.name}`);
    const args = argumentsOf(params, "prompt");
    const missing = prompt.definition.arguments?.find(({ name, required }) => required && !Object.hasOwn(args, name));
    if (missing) throw new McpError(-32602, `the prompt ${params.name} needs the argument ${missing.name}`);
    const found = await prompt.handler(args, context);
    if (typeof found !== "string") return found;
    const messages: PromptMessage[] = [{ role: "user", content: text(found) }];
    return { description: prompt.definition.description, messages };
  }

  async #complete(params: any): Promise<unknown> {
    const { ref, argument, context } = params;
    const of = ref?.name ?? ref?.uri;
    if (typeof of !== "string" || typeof argument?.name !== "string" || typeof argument.value !== "string") {
      throw new McpError(-32602, "completion/complete needs a ref and an argument with its name and value");
    }
    const handler = this.#completions.get(`${of} ${argument.name}`);
    const all = handler ? await handler(argument.value, context?.arguments ?? {}) : [];
    return { completion: { values: all.slice(0, 100), total: all.length, hasMore: all.length > 100 } };
  }

  #extensions(): { extensions?: JsonObject } {
    const ids = [...this.#methods.values()].flatMap(({ definition: { extension } }) => extension ?? []);
    return ids.length ? { extensions: Object.fromEntries(ids.map((id) => [id, {}])) } : {};
  }

  #named(): string {
    return [...this.#methods].map(([name, { definition }]) => `${name}\t${definition.extension ?? ""}`).join("\n");
  }

  #addresses(templates: boolean, member: string): unknown[] {
    return [...this.#resources]
      .filter(([, { match }]) => (match !== undefined) === templates)
      .map(([uri, { definition }]) => ({ [member]: uri, ...definition }));
  }
}

/** Gives what holds values against a schema of a tool. */
function checker(kind: string, schema: unknown): Checker {
  // A schema that is no JSON cannot be listed, and demands nothing.
  const text = attempt(() => JSON.stringify(schema)) ?? "true";
  try {
    return new (glue as ServerGlue).Checker(text, false);
  } catch (thrown) {
    throw new McpError(-32603, `the tool's ${kind} schema cannot be used: ${messageOf(thrown)}`);
  }
}

/** What a form does not allow about an answer to it. */
function unfit(form: unknown, content: unknown): string | undefined {
  const checker = new (glue as ServerGlue).Checker(JSON.stringify(form), true);
  try {
    return checker.check(JSON.stringify(content ?? {}));
  } finally {
    checker.free();
  }
}

function argumentsOf<A extends object>(params: { arguments?: A }, of: string): A {
  const args = params.arguments ?? ({} as A);
  if (typeof args !== "object" || Array.isArray(args)) throw new McpError(-32602, `the arguments of a ${of} are an object`);
  return args;
}

function definitions<D>(table: Map<string, Entry<D, unknown>>): D[] {
  return [...table.values()].map(({ definition }) => definition);
}

function list(allowed: string[] | "any" | undefined): string {
  return allowed === "any" ? "*" : (allowed ?? []).join();
}

function result(answer: ToolAnswer, described: boolean): CallToolResult {
  if (answer === undefined) return { content: [] };
  if (Array.isArray(answer)) return { content: answer };
  if (typeof answer === "object" && answer !== null && Array.isArray(answer.content)) return answer as CallToolResult;
  const content = [text(typeof answer === "string" ? answer : JSON.stringify(answer))];
  return described || (typeof answer === "object" && answer !== null) ? { content, structuredContent: answer } : { content };
}

function text(text: string): ContentBlock {
  return { type: "text", text };
}

function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | null)?.then === "function";
}
