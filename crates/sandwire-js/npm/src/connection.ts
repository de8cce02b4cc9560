/// <reference lib="esnext.disposable" preserve="true" />
import { cannotConnect, McpError } from "./error.js";
import { Requests, type HttpOptions } from "./fetch.js";
import type { Mirror } from "./mirror.js";
import type { Carrier, Exports, Module } from "./module.js";
import type { ClientCapabilities, Implementation, JsonObject, LoggingLevel, Params, Progress, Result, ServerCapabilities } from "./protocol.js";
import type { Wasm, WasmOption } from "./wasm.js";

/** The era of a protocol version: one handshake, or everything with each request. */
export type Era = "legacy" | "modern";

/** How JSON becomes values and values become JSON. */
export interface JsonOptions {
  /**
   * Used instead of `JSON.parse` for results, progress and notifications, for example to keep integers beyond 2^53.
   * It gets the digits as the server wrote them.
   */
  parse?: (text: string) => unknown;
  /** Used instead of `JSON.stringify` for parameters. */
  stringify?: (value: unknown) => string;
}

/** Holds what a server gives against what it says of it: `validator` of `sandwire/schema` is one. */
export interface Validator {
  /** Sees the text of every result, with the connection it came over. What it throws, the call throws. */
  result(connection: object, method: string, params: unknown, text: string): Promise<void> | void;
  /** Sees every answer to a question before it is sent. What it throws is sent as an error. */
  answer(method: string, params: JsonObject, answer: unknown): Promise<void> | void;
  /** Hears of every notification. */
  notified(connection: object, method: string): void;
}

/** How a client connects. */
export interface ConnectOptions extends HttpOptions, JsonOptions {
  /** Checks results and answers. By default they are taken as they come. */
  validator?: Validator;
  /** The name this client gives itself. */
  name?: string;
  /** Who this client is, more exactly than by `name`. */
  clientInfo?: Implementation;
  /** What this client can do. By default, what its handlers can answer. */
  capabilities?: ClientCapabilities;
  /** The protocol version to speak, such as `"2025-11-25"`, or `"legacy"` for any with a handshake. */
  version?: string;
  /** Gives up connecting when it is aborted. Does not end a connection. */
  signal?: AbortSignal;
  /** How long a call may take, in milliseconds. By default 60,000. */
  timeout?: number;
  /** The longest message in either direction, in bytes. By default 4 MiB. */
  maxMessageBytes?: number;
  /** How often one call may be asked for more input before it fails. By default 10. */
  maxRounds?: number;
  /** Goes on with a legacy server that answers `notifications/initialized` with an error status. */
  ignoreFailedInitialized?: boolean;
  /** Hears what is wrong with the server where everything goes on, such as a tool that is left out of a list. */
  onWarning?: (warning: McpError) => void;
  /** Hears of every notification that belongs to no call. */
  onNotification?: (method: string, params: JsonObject | undefined) => void;
  /** Sees the text of every message, for inspectors. */
  onraw?: (direction: "sent" | "received", text: string) => void;
  /** Hears once that the connection is over, and why, if not because it was closed from here. */
  onclose?: (error: McpError | undefined) => void;
  /** The wasm module, where it cannot be fetched from beside this package's files. */
  wasm?: WasmOption;
}

/** How a call is made. */
export interface CallOptions extends JsonOptions {
  /** Cancels the call. */
  signal?: AbortSignal;
  /** Asks for progress and hears of it. */
  onProgress?: (progress: Progress) => void;
  /** How long the call may take, in milliseconds; `Infinity` for as long as it likes. */
  timeout?: number;
  /** Whether progress begins the timeout anew. */
  resetTimeoutOnProgress?: boolean;
  /** How long the call may take however much progress it makes, in milliseconds. */
  maxTotalTimeout?: number;
  /**
   * Gives a result that asks for input as it is, with `resultType: "input_required"`, instead of asking the handlers. The
   * call is made again with `inputResponses` and the result's `requestState` among its parameters, at any later time.
   */
  manualRounds?: boolean;
}

/** How a subscription is made. */
export interface ListenOptions extends JsonOptions {
  /** Ends the subscription. */
  signal?: AbortSignal;
}

interface Pending {
  _resolve: (text: string) => void;
  _reject: (error: McpError) => void;
  _progress?: (progress: Progress) => void;
  _event?: (method: string, params: JsonObject | undefined) => void;
  _parse: (text: string) => any;
}

/** @internal */
export const enum Told {
  Done,
  Progress,
  Event,
  Notification,
  Ask,
  Withdrawn,
  Opened,
  Closed,
  Message,
}

const OPENING = -1;
const WARNING = -3;

const HEADER_MISMATCH = -32020;

/** How many pages of one list are read before it is taken for endless. */
const MAX_PAGES = 1000;

/** A connection to a server. */
export class Base {
  /** @internal */
  declare _module: Module;
  /** @internal What the module exports. */
  declare _wasm: Exports;
  /** @internal */
  declare _id: number;
  /** @internal */
  declare _carrier: Carrier;
  /** @internal */
  _level: LoggingLevel | "" = "";
  /** @internal */
  _pending = new Map<number, Pending>();
  /** @internal */
  _next = 0;
  /** @internal */
  declare _options: ConnectOptions;
  /** @internal */
  declare _parse: (text: string) => any;
  /** @internal */
  declare _stringify: (value: unknown) => string;
  /** @internal */
  _server: { capabilities?: ServerCapabilities; serverInfo?: Implementation; instructions?: string } = {};
  /** @internal */
  _version = "";
  /** @internal */
  _era: Era = "legacy";
  /** @internal */
  declare _opened: ((error?: McpError) => void) | undefined;
  /** @internal */
  declare _closed: McpError | undefined;
  /** @internal */
  declare _timer: any;

  /** @internal */
  protected constructor(options: ConnectOptions) {
    this._options = options;
    this._parse = options.parse ?? JSON.parse;
    this._stringify = options.stringify ?? JSON.stringify;
  }

  /** @internal */
  async _open(
    wasm: Wasm<Module>,
    capabilities: ClientCapabilities,
    target: string | URL | ((module: Module, id: number) => Carrier),
    resultTypes: string[] = [],
  ): Promise<this> {
    const module = (this._module = await wasm.load(this._options.wasm));
    try {
      await this._begin(module, capabilities, target, resultTypes);
    } catch (cause) {
      throw cannotConnect(cause);
    }
    return this;
  }

  /** @internal */
  async _begin(
    module: Module,
    capabilities: ClientCapabilities,
    target: string | URL | ((module: Module, id: number) => Carrier),
    resultTypes: string[],
  ): Promise<void> {
    const options = this._options;
    const { signal, timeout = -1, maxMessageBytes = -1, maxRounds = -1 } = options;
    const exports = (this._wasm = module._exports);
    const id = (this._id = ++module._latest);
    const info = written(options.clientInfo ?? { name: options.name ?? "sandwire", version: "1" }, this._stringify);
    const declared = written(options.capabilities ?? capabilities, this._stringify);
    // The module takes both as they are.
    JSON.parse(`[${info},${declared}]`);
    const port = typeof target === "function";
    const url = port ? "" : `${new URL(target, globalThis.location?.href)}`;
    if (signal?.aborted) throw aborted(signal);

    const giveUp = () => this._opened?.(aborted(signal!));
    signal?.addEventListener("abort", giveUp);
    module._lines.set(id, this);
    const flags = (options.onraw ? 1 : 0) | (port ? 2 : 0) | (options.ignoreFailedInitialized ? 4 : 0);
    try {
      await new Promise<void>((resolve, reject) => {
        this._opened = (error) => (error ? reject(error) : resolve());
        exports.open(id, flags, timeout, maxMessageBytes, maxRounds, module._put(info, declared, resultTypes.join(" "), options.version ?? ""));
        this._carrier = port ? target(module, id) : new Requests(module, id, url, options);
        exports.wake(id);
      });
    } catch (error) {
      this._closed ??= error as McpError;
      exports.close(id);
      throw error;
    } finally {
      signal?.removeEventListener("abort", giveUp);
      this._opened = undefined;
    }
  }

  /** The version that both sides speak. */
  get protocolVersion(): string {
    return this._version;
  }

  /** Whether that version has a handshake. */
  get era(): Era {
    return this._era;
  }

  /** What the server can do. */
  getServerCapabilities(): ServerCapabilities | undefined {
    return this._server.capabilities;
  }

  /** Who the server is, if it said so. */
  getServerVersion(): Implementation | undefined {
    return this._server.serverInfo;
  }

  /** What the server says about how to use it. */
  getInstructions(): string | undefined {
    return this._server.instructions;
  }

  /** Makes a request of any method. */
  async request<R = Result>(method: string, params?: Params, options: CallOptions = {}): Promise<R> {
    const text = await this._checkedText(method, params, options);
    return without(read(text, options.parse ?? this._parse), this._refused(method, text));
  }

  /** Makes a request and gives its result as the JSON text that the server wrote. */
  async requestText(method: string, params?: Params, options: CallOptions = {}): Promise<string> {
    const text = await this._checkedText(method, params, options);
    const refused = this._refused(method, text);
    return refused?.size ? JSON.stringify(without(JSON.parse(text), refused)) : text;
  }

  /** Sends a notification. */
  notification(method: string, params?: Params): void {
    if (this._closed) throw this._closed;
    const { _module: module, _pending: pending } = this;
    const length = module._put(written(params, this._stringify), named(method));
    const token = this._next++;
    let fault: McpError | undefined;
    pending.set(token, { _reject: (error) => void (fault = error) } as Partial<Pending> as Pending);
    this._wasm.notify(this._id, token, length);
    pending.delete(token);
    if (fault) throw fault;
  }

  /** Ends the connection. Calls under way fail. */
  async close(): Promise<void> {
    this._wasm.close(this._id);
    this._end(undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal */
  _call(
    method: string,
    params: Params | undefined,
    options: CallOptions,
    event?: (method: string, params: JsonObject | undefined) => void,
  ): Promise<string> {
    const { signal, onProgress, timeout = -1, maxTotalTimeout = -1, stringify = this._stringify, parse = this._parse } = options;
    return new Promise((resolve, reject) => {
      if (this._closed) throw this._closed;
      if (signal?.aborted) throw aborted(signal);
      const { _module: module, _pending: pending } = this;
      const meta = params?.["_meta"] ? written(params["_meta"], stringify) : "";
      const text = written(meta ? { ...params, ["_meta"]: undefined } : params, stringify);
      const length = module._put(this._level, meta, text, named(method));
      const flags = (onProgress ? 1 : 0) | (options.resetTimeoutOnProgress ? 2 : 0) | (event ? 4 : 0) | (options.manualRounds ? 8 : 0);
      const token = this._next++;
      const call: Pending = { _resolve: resolve, _reject: reject, _progress: onProgress, _event: event, _parse: parse };
      pending.set(token, call);
      const key = this._wasm.call(this._id, token, flags, timeout, maxTotalTimeout, length);
      // A call that cannot be sent has failed by now.
      if (signal && pending.has(token)) {
        const cancel = () => {
          this._wasm.cancel(this._id, key);
          this._take(token)?._reject(aborted(signal));
        };
        const settle = () => signal.removeEventListener("abort", cancel);
        signal.addEventListener("abort", cancel);
        call._resolve = (text) => (settle(), resolve(text));
        call._reject = (error) => (settle(), reject(error));
        if (signal.aborted) cancel();
      }
    });
  }

  /** @internal Makes a request and has its result checked. */
  async _checkedText(method: string, params: Params | undefined, options: CallOptions): Promise<string> {
    const text = await this._text(method, params, options);
    await this._options.validator?.result(this, method, params, text);
    return text;
  }

  /** @internal Makes a request; once more, if it is a call whose header fields did not fit the tool as it is now. */
  async _text(method: string, params: Params | undefined, options: CallOptions): Promise<string> {
    try {
      return await this._call(method, params, options);
    } catch (error) {
      if ((error as McpError).code !== HEADER_MISMATCH || method !== "tools/call" || !this._mirror()) throw error;
      try {
        await this._all("tools/list", "tools", { signal: options.signal, parse: JSON.parse });
      } catch {
        throw error;
      }
      return this._call(method, params, options);
    }
  }

  /** @internal All items of a list, page by page. */
  async _all<T>(method: string, member: string, options?: CallOptions): Promise<T[]> {
    const all: T[] = [];
    const seen = new Set<unknown>();
    for (let params: Params | undefined; ; ) {
      const page: Result | null = await this.request(method, params, options);
      const items = page?.[member];
      if (!Array.isArray(items)) throw new McpError("misbehaved", `the server's answer to ${method} has no list of ${member}`);
      for (const item of items) all.push(item);
      const cursor = page!["nextCursor"] ?? undefined;
      if (cursor === undefined) return all;
      if (seen.has(cursor) || seen.add(cursor).size >= MAX_PAGES) {
        throw new McpError("misbehaved", "the server's list does not end; read its pages one by one");
      }
      params = { cursor };
    }
  }

  /** @internal What mirrors arguments: only modern servers that are reached over HTTP want that. */
  _mirror(): Mirror | undefined {
    const { _carrier: carrier } = this;
    return this._era === "modern" && carrier instanceof Requests ? carrier._mirror : undefined;
  }

  /** @internal The places of the tools in a result that must not be used. */
  _refused(method: string, text: string): Set<number> | undefined {
    if (method !== "tools/list") return undefined;
    return this._mirror()?._learn(text, (reason) => {
      // What a callback throws must not end the call.
      queueMicrotask(() => this._options.onWarning?.(new McpError("misbehaved", reason)));
    });
  }

  /** @internal */
  _told(what: Told, key: number, name: string, json: string): void {
    const call = this._pending.get(key);
    switch (what) {
      case Told.Done:
        return this._take(key)?._resolve(json);
      case Told.Progress:
        return call?._progress?.(call._parse(json));
      case Told.Event:
        return call?._event?.(name, json ? call._parse(json) : undefined);
      case Told.Notification:
        this._options.validator?.notified(this, name);
        return this._options.onNotification?.(name, json ? this._parse(json) : undefined);
      case Told.Opened:
        this._version = name;
        this._era = key ? "modern" : "legacy";
        try {
          this._server = read(json, this._parse) ?? {};
        } catch (error) {
          return this._opened?.(error as McpError);
        }
        return this._opened?.();
      case Told.Closed:
        return this._over(undefined);
      case Told.Message:
        return this._options.onraw?.(key ? "received" : "sent", json);
    }
  }

  /** @internal */
  _failed(token: number, error: McpError): void {
    if (token >= 0) this._take(token)?._reject(error);
    else if (token === OPENING) this._opened?.(error);
    else if (token === WARNING) this._options.onWarning?.(error);
    else this._over(error);
  }

  /** @internal Node waits for its timers before it exits; a deadline is no reason to stay. */
  _arm(milliseconds: number): void {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => this._wasm.wake(this._id), milliseconds);
    this._timer.unref?.();
  }

  /** @internal */
  _take(token: number): Pending | undefined {
    const call = this._pending.get(token);
    this._pending.delete(token);
    return call;
  }

  /** @internal The module has no such connection any more. */
  _over(error: McpError | undefined): void {
    clearTimeout(this._timer);
    this._module._lines.delete(this._id);
    this._end(error);
  }

  /** @internal */
  _end(error: McpError | undefined): void {
    if (this._closed) return;
    this._closed = error ?? new McpError("closed", "the connection is closed; connect again");
    this._opened?.(this._closed);
    this._options.onclose?.(error);
  }
}

/** A page of tools without those at some places. */
function without(page: any, places: Set<number> | undefined): any {
  if (places?.size && Array.isArray(page?.tools)) page.tools = page.tools.filter((_: unknown, at: number) => !places.has(at));
  return page;
}

/** What a result says. */
function read(text: string, parse: (text: string) => any): any {
  try {
    return parse(text);
  } catch (cause) {
    throw new McpError("malformed", "the result is not JSON that this client can parse", { cause });
  }
}

/** Parameters as text, or empty if there are none. */
function written(params: unknown, stringify: (value: unknown) => string): string {
  if (params === undefined || params === null) return "";
  let text: unknown;
  try {
    text = stringify(params);
  } catch (cause) {
    throw new McpError("misuse", "the parameters cannot be written as JSON; see cause", { cause });
  }
  if (typeof text === "string" && text.trimStart().startsWith("{")) return text;
  throw new McpError("misuse", "params must be a JSON object");
}

function named(method: string): string {
  if (typeof method === "string") return method;
  throw new McpError("misuse", "the method must be a string");
}

/** @internal */
export function aborted(signal: AbortSignal): McpError {
  return new McpError("cancelled", "cancelled by the caller's signal", { cause: signal.reason });
}
