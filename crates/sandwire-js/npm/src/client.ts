import { Told, type CallOptions, type ConnectOptions, type JsonOptions, type ListenOptions } from "./connection.js";
import { cannotConnect, describe, McpError } from "./error.js";
import { Module } from "./module.js";
import { portOf, Postbox, type Target } from "./port.js";
import type {
  CallToolParams, CallToolResult, ClientCapabilities, CompleteParams, CompleteResult, CreateMessageResult, ElicitResult, GetPromptParams,
  GetPromptResult, JsonObject, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListRootsResult,
  LoggingLevel, PageParams, Params, Prompt, ReadResourceParams, ReadResourceResult, Resource, ResourceTemplate, Result,
  Task,
  SubscriptionFilter, UrlElicitation,
} from "./protocol.js";
import { finish, TASKS } from "./tasks.js";
import { ToolClient } from "./tool-client.js";
import { Wasm, type WasmOption } from "./wasm.js";

export type { CallOptions, ConnectOptions, Era, JsonOptions, ListenOptions, Validator } from "./connection.js";
export { McpError, type Failure, type McpErrorDetails } from "./error.js";
export type { FetchFunction, HeadersOption, HttpOptions } from "./fetch.js";
export type { Connectable, PortLike, Target } from "./port.js";
export type * from "./protocol.js";
export type { WasmOption, WasmSource } from "./wasm.js";

const wasm = /* @__PURE__ */ new Wasm(new Module(), () => new URL("./client.wasm", import.meta.url));

/** Where the wasm module comes from, unless a connection says otherwise. */
export function setWasm(source: WasmOption): void {
  wasm.provide(source);
}

/** The id of an extension: labels with dots, a slash and a name. */
const EXTENSION = /^[a-z]([a-z\d-]*[a-z\d])?(\.[a-z]([a-z\d-]*[a-z\d])?)*\/[a-z\d]([\w.-]*[a-z\d])?$/i;

/** What the server may ask, by method, and what is answered. */
export interface Handlers {
  "elicitation/create": ElicitResult;
  "sampling/createMessage": CreateMessageResult;
  "roots/list": ListRootsResult;
}

/** Answers one kind of question. What it throws is answered as an error. */
export type Handler<R = unknown> = (params: JsonObject, extra: { signal: AbortSignal }) => R | PromiseLike<R>;

/** How a full client connects. */
export interface ClientOptions extends ConnectOptions {
  /** Answers to what the server asks. Each one declares the capability that it needs. */
  handlers?: { [M in keyof Handlers]?: Handler<Handlers[M]> };
  /** Gives the fields that an accepted form leaves out the values they have by default, and declares that. */
  applyDefaults?: boolean;
  /** Extensions and their settings, by their ids. Declares them. */
  extensions?: { [id: string]: JsonObject };
  /** Types of results that extensions add. Such results are given as they are; those of other types are errors. */
  resultTypes?: string[];
  /** Takes tasks: a server may make one of the call of a tool. */
  tasks?: boolean;
  /** Keeps what a modern server says may be used again, until it says that it changed. Without this nothing is kept. */
  cache?: Cache;
}

/** Keeps results: see `sandwire/cache`. */
export interface Cache {
  /** Gives a result that is kept, or makes the call. If `manual` is set, a result that asks for input is given as it is. */
  call(method: string, params: Params | undefined, make: (manual: boolean) => Promise<string>): Promise<string>;
  /** Hears the method of each notification. */
  hear(method: string): void;
}

/** A subscription under way. */
export interface Subscription {
  /** What the server agreed to tell, which may be less than was asked for; nothing if it ended before. */
  acknowledged: Promise<SubscriptionFilter | undefined>;
  /**
   * How it ended. It is not made again: what changed meanwhile would be missed, so ask for that first.
   * `"unacknowledged"` is the answer of a server that does not offer this.
   */
  ended: Promise<"complete" | "unacknowledged" | McpError>;
  /** Ends it. */
  close(): void;
}

/** What the fields of a form are filled with before the user looks at it. `params` are those of `elicitation/create`. */
export function formDefaults(params: JsonObject): JsonObject {
  const { properties = {} } = (params["requestedSchema"] ?? {}) as { properties?: { [name: string]: { default?: unknown } } };
  return Object.fromEntries(Object.entries(properties).flatMap(([name, field]) => (field?.default === undefined ? [] : [[name, field.default]])));
}

/** The addresses that a server wants to have visited before the call is made again, if the error says so. */
export function elicitationsOf(error: unknown): UrlElicitation[] {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { elicitations?: unknown } };
  const list = code === -32042 ? data?.elicitations : [];
  return Array.isArray(list) ? list.filter((visit) => visit?.mode === "url") : [];
}

/** A client with everything that the protocol has, of both eras. */
export class Client extends ToolClient {
  /** @internal */
  declare _handlers: Map<string, Handler>;

  /** @internal The questions that wait for an answer. */
  _asking = new Map<number, AbortController>();

  /** @internal */
  declare _options: ClientOptions;

  private constructor(options: ClientOptions) {
    super(options);
    this._handlers = new Map(Object.entries(options.handlers ?? {}));
  }

  /** Connects to the server at a URL, behind a port, in a worker, or in this very program. */
  static async connect(target: string | URL | Target, options: ClientOptions = {}): Promise<Client> {
    const client = new Client(options);
    const capabilities = client._capabilities();
    const types = [...(options.resultTypes ?? []), ...(options.tasks ? ["task"] : [])];
    if (typeof target === "string" || target instanceof URL) return client._open(wasm, capabilities, target, types);
    const port = await portOf(target).catch((cause) => {
      throw cannotConnect(cause);
    });
    return client._open(wasm, capabilities, (module, id) => new Postbox(module, id, port), types);
  }

  /** @internal */
  _capabilities(): ClientCapabilities {
    const has = (method: string) => this._handlers.has(method);
    const extensions = { ...this._options.extensions, ...(this._options.tasks && { [TASKS]: {} }) };
    const ids = Object.keys(extensions);
    const wrong = ids.find((id) => !EXTENSION.test(id));
    if (wrong !== undefined) throw new McpError("misuse", `${wrong} is no id of an extension, such as com.example/notes`);
    return {
      ...(ids.length && { extensions }),
      ...(has("elicitation/create") && { elicitation: { form: this._options.applyDefaults ? { applyDefaults: true } : {} } }),
      ...(has("sampling/createMessage") && { sampling: {} }),
      ...(has("roots/list") && { roots: { listChanged: true } }),
    };
  }

  /** Replaces the answer to one kind of question. Its capability must have been declared when connecting. */
  setRequestHandler<M extends keyof Handlers>(method: M, handler: Handler<Handlers[M]>): void {
    this._handlers.set(method, handler);
  }

  /** Calls a tool, and waits for the task that the server may make of the call; see {@link finishTask}. */
  override async callTool(params: CallToolParams, options?: CallOptions): Promise<CallToolResult> {
    const called = await this.callToolOrBeginTask(params, options);
    return "taskId" in called && called["resultType"] === "task" ? this.finishTask(called as Task, options) : (called as CallToolResult);
  }

  /** Calls a tool. A client with `tasks` may get a task instead of the result, whose `resultType` is then `task`. */
  callToolOrBeginTask(params: CallToolParams, options?: CallOptions): Promise<CallToolResult | Task> {
    return this.request("tools/call", params, options);
  }

  /** How a task stands, and what it asks or what came of it. */
  getTask(taskId: string, options?: CallOptions): Promise<Task> {
    return this.request("tasks/get", { taskId }, options);
  }

  /** Answers what a task asks, some of it or all, by the keys of its questions. */
  async updateTask(taskId: string, inputResponses: JsonObject, options?: CallOptions): Promise<void> {
    await this.request("tasks/update", { taskId, inputResponses }, options);
  }

  /** Asks for a task to be given up. It may end otherwise all the same. */
  async cancelTask(taskId: string, options?: CallOptions): Promise<void> {
    await this.request("tasks/cancel", { taskId }, options);
  }

  /**
   * Waits for a task to end. What it asks, the handlers answer; the server says how often to look. An aborted `signal`
   * ends the wait and leaves the task alone.
   */
  finishTask(task: Task, options: CallOptions = {}): Promise<CallToolResult> {
    const { signal } = options;
    return finish(task, {
      get: (id) => this.getTask(id, { signal }),
      update: (id, responses) => this.updateTask(id, responses, { signal }),
      cancel: (id) => this.cancelTask(id),
      answer: (method, params, signal) => {
        const handler = this._handlers.get(method);
        if (!handler) throw new McpError(-32601, `this client has no handler for ${method}`);
        return handler(params, { signal });
      },
    }, options);
  }

  listResources(params?: PageParams, options?: CallOptions): Promise<ListResourcesResult> {
    return this.request("resources/list", params, options);
  }

  /** All of the server's resources, page by page. */
  listAllResources(options?: CallOptions): Promise<Resource[]> {
    return this._all("resources/list", "resources", options);
  }

  listResourceTemplates(params?: PageParams, options?: CallOptions): Promise<ListResourceTemplatesResult> {
    return this.request("resources/templates/list", params, options);
  }

  /** All of the server's resource templates, page by page. */
  listAllResourceTemplates(options?: CallOptions): Promise<ResourceTemplate[]> {
    return this._all("resources/templates/list", "resourceTemplates", options);
  }

  readResource(params: ReadResourceParams, options?: CallOptions): Promise<ReadResourceResult> {
    return this.request("resources/read", params, options);
  }

  listPrompts(params?: PageParams, options?: CallOptions): Promise<ListPromptsResult> {
    return this.request("prompts/list", params, options);
  }

  /** All of the server's prompts, page by page. */
  listAllPrompts(options?: CallOptions): Promise<Prompt[]> {
    return this._all("prompts/list", "prompts", options);
  }

  getPrompt(params: GetPromptParams, options?: CallOptions): Promise<GetPromptResult> {
    return this.request("prompts/get", params, options);
  }

  complete(params: CompleteParams, options?: CallOptions): Promise<CompleteResult> {
    return this.request("completion/complete", params, options);
  }

  /** Asks for a sign of life. A modern server is asked what it can do instead, for it knows no ping. */
  ping(options?: CallOptions): Promise<Result> {
    return this.request(this.era === "modern" ? "server/discover" : "ping", undefined, options);
  }

  /** The least severe log messages to get: told to a legacy server, sent to a modern one with every call. */
  async setLoggingLevel(level: LoggingLevel, options?: CallOptions): Promise<void> {
    if (this.era === "modern") {
      this._level = level;
    } else {
      await this.request("logging/setLevel", { level }, options);
    }
  }

  /** Asks a legacy server to tell of changes of a resource; for a modern one see {@link listen}. */
  subscribeResource(params: ReadResourceParams, options?: CallOptions): Promise<Result> {
    return this.request("resources/subscribe", params, options);
  }

  unsubscribeResource(params: ReadResourceParams, options?: CallOptions): Promise<Result> {
    return this.request("resources/unsubscribe", params, options);
  }

  /**
   * Hears of changes at a modern server, until the server ends it or `signal` is aborted. The first notification
   * says what the server agreed to.
   */
  async listen(
    notifications: SubscriptionFilter,
    onNotification: (method: string, params: JsonObject | undefined) => void,
    options: ListenOptions = {},
  ): Promise<void> {
    await this._call("subscriptions/listen", { notifications }, options, onNotification);
  }

  /** The same, as a value that says what the server agreed to and how it ended. */
  subscribe(
    notifications: SubscriptionFilter,
    onNotification: (method: string, params: JsonObject | undefined) => void,
    options: JsonOptions = {},
  ): Subscription {
    const abort = new AbortController();
    let agree!: (filter: SubscriptionFilter | undefined) => void;
    let agreed = false;
    const acknowledged = new Promise<SubscriptionFilter | undefined>((resolve) => (agree = resolve));
    const hear = (method: string, params: JsonObject | undefined) => {
      if (agreed || method !== "notifications/subscriptions/acknowledged") return onNotification(method, params);
      agreed = true;
      agree((params?.["notifications"] ?? {}) as SubscriptionFilter);
    };
    const ended = this.listen(notifications, hear, { ...options, signal: abort.signal }).then(
      () => (agreed ? "complete" as const : "unacknowledged" as const),
      (error: McpError) => error,
    );
    void ended.then(() => agree(undefined));
    return { acknowledged, ended, close: () => abort.abort() };
  }

  /** @internal */
  override _text(method: string, params: Params | undefined, options: CallOptions): Promise<string> {
    const call = (manual: boolean) => super._text(method, params, manual ? { ...options, manualRounds: true } : options);
    const { cache } = this._options;
    // What the caller wants to answer itself cannot be told from what took input.
    return cache && this._era === "modern" && !options.manualRounds ? cache.call(method, params, call) : call(false);
  }

  /** @internal */
  override _told(what: Told, key: number, name: string, json: string): void {
    if (what === Told.Event || what === Told.Notification) this._options.cache?.hear(name);
    if (what === Told.Ask) void this._answer(key, name, json);
    else if (what === Told.Withdrawn) this._withdraw(key);
    else super._told(what, key, name, json);
  }

  /** @internal */
  _withdraw(key: number): void {
    this._asking.get(key)?.abort();
    this._asking.delete(key);
  }

  /** @internal */
  async _answer(key: number, method: string, json: string): Promise<void> {
    const abort = new AbortController();
    this._asking.set(key, abort);
    let code = 0;
    let answer: string;
    try {
      const handler = this._handlers.get(method);
      if (!handler) throw new McpError(-32601, `this client has no handler for ${method}`);
      const params = this._parse(json);
      const given = this._checked(method, params, await handler(params, { signal: abort.signal }));
      await this._options.validator?.answer(method, params, given as JsonObject);
      answer = this._stringify(given);
      if (typeof answer !== "string") throw new McpError(-32603, `the handler of ${method} gave no answer`);
    } catch (thrown) {
      ({ code, message: answer } = describe(thrown));
    }
    this._asking.delete(key);
    this._wasm.answer(this._id, key, code, this._module._put(answer));
  }

  /** @internal What is sent of a handler's answer. */
  _checked(method: string, params: JsonObject, answer: any): unknown {
    if (method === "roots/list") {
      for (const root of answer?.roots ?? []) {
        if (!`${root?.uri}`.startsWith("file://")) throw new McpError(-32603, "this client has a root that is no file:// address");
      }
    }
    if (method !== "elicitation/create" || !answer) return answer;
    const fills = this._options.applyDefaults && answer.action === "accept" && params["mode"] !== "url";
    if (fills) return { ...answer, content: { ...formDefaults(params), ...answer.content } };
    return answer.content === null ? { ...answer, content: undefined } : answer;
  }

  /** @internal */
  override _end(error: McpError | undefined): void {
    for (const abort of this._asking.values()) abort.abort();
    super._end(error);
  }
}
