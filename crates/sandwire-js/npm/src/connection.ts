/// <reference lib="esnext.disposable" preserve="true" />
import { describe, McpError, type Failure } from "./error.js";
import { explained, Requests, type Arrivals, type HttpOptions } from "./fetch.js";
import type { ClientCapabilities, Implementation, JsonObject, LoggingLevel, Params, Progress, Result, ServerCapabilities } from "./protocol.js";
import type { Glue, Wasm, WasmOption } from "./wasm.js";

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

/** How a client connects. */
export interface ConnectOptions extends HttpOptions, JsonOptions {
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
}

/** How a subscription is made. */
export interface ListenOptions extends JsonOptions {
  /** Ends the subscription. */
  signal?: AbortSignal;
}

/** @internal The bindings of a client module. */
export interface ClientGlue extends Glue {
  Settings: new (hooks: Hooks, info: string, capabilities: string, version: string) => Settings;
  Connection: {
    http(settings: Settings, requests: Requests): Connection;
    port?(settings: Settings, port: unknown): Connection;
  };
}

/** @internal */
export interface Settings {
  observe(): void;
  timeout(milliseconds: number): void;
  maxMessageBytes(bytes: number): void;
}

/** @internal */
export interface Connection extends Arrivals {
  call(
    token: number, method: string, params: string, meta: string, level: string,
    flags: number, timeout: number, total: number,
  ): number;
  cancel(key: number): void;
  notify(method: string, params: string): void;
  answer?(key: number, code: number, json: string): void;
  close(): void;
}

/** @internal What a module reports to. */
export interface Hooks {
  done(token: number, result: string): void;
  failed(token: number, code: string, number: number, message: string, data: string, cause: unknown): void;
  told(what: number, key: number, name: string, json: string): void;
}

interface Pending {
  resolve: (text: string) => void;
  reject: (error: McpError) => void;
  progress: ((progress: Progress) => void) | undefined;
  event: ((method: string, params: JsonObject | undefined) => void) | undefined;
  parse: (text: string) => unknown;
}

/** @internal Answers a question of the server. */
export type Asked = (method: string, params: JsonObject, signal: AbortSignal) => unknown;

/** @internal How the parts of a call are written into one number. */
const enum Flag {
  Progress = 1,
  ResetOnProgress = 2,
  Subscription = 4,
}

const enum Told {
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

/** A connection to a server. */
export class Base {
  /** @internal */
  protected _connection!: Connection;
  /** @internal */
  protected _level: LoggingLevel | "" = "";
  #pending = new Map<number, Pending>();
  #next = 0;
  #options: ConnectOptions;
  #parse: (text: string) => any;
  #stringify: (value: unknown) => string;
  #server: { capabilities?: ServerCapabilities; serverInfo?: Implementation; instructions?: string } = {};
  #version = "";
  #era: Era = "legacy";
  #opened: ((error?: McpError) => void) | undefined;
  #closed: McpError | undefined;
  #asked: Asked | undefined;
  #asking = new Map<number, AbortController>();

  /** @internal */
  protected constructor(options: ConnectOptions, asked?: Asked) {
    this.#options = options;
    this.#parse = options.parse ?? JSON.parse;
    this.#stringify = options.stringify ?? JSON.stringify;
    this.#asked = asked;
  }

  /** @internal */
  protected async _open(wasm: Wasm<ClientGlue>, target: unknown, capabilities: ClientCapabilities): Promise<this> {
    const options = this.#options;
    const { signal } = options;
    const glue = await wasm.load(options.wasm);
    const info = options.clientInfo ?? { name: options.name ?? "sandwire", version: "1" };
    const settings = new glue.Settings(
      this.#hooks(), this.#stringify(info), this.#stringify(options.capabilities ?? capabilities), options.version ?? "",
    );
    if (options.onraw) settings.observe();
    if (options.timeout !== undefined) settings.timeout(options.timeout);
    if (options.maxMessageBytes !== undefined) settings.maxMessageBytes(options.maxMessageBytes);
    if (signal?.aborted) throw aborted(signal);

    const opened = new Promise<void>((resolve, reject) => {
      this.#opened = (error) => (error ? reject(error) : resolve());
    });
    const giveUp = () => {
      this.#opened?.(aborted(signal!));
      this._connection.close();
    };
    signal?.addEventListener("abort", giveUp);
    if (typeof target === "string" || target instanceof URL) {
      const requests = new Requests(`${new URL(target, globalThis.location?.href)}`, options);
      this._connection = requests.arrivals = glue.Connection.http(settings, requests);
    } else {
      this._connection = glue.Connection.port!(settings, target);
    }
    try {
      await opened;
    } finally {
      signal?.removeEventListener("abort", giveUp);
      this.#opened = undefined;
    }
    return this;
  }

  /** The version that both sides speak. */
  get protocolVersion(): string {
    return this.#version;
  }

  /** Whether that version has a handshake. */
  get era(): Era {
    return this.#era;
  }

  /** What the server can do. */
  getServerCapabilities(): ServerCapabilities | undefined {
    return this.#server.capabilities;
  }

  /** Who the server is, if it said so. */
  getServerVersion(): Implementation | undefined {
    return this.#server.serverInfo;
  }

  /** What the server says about how to use it. */
  getInstructions(): string | undefined {
    return this.#server.instructions;
  }

  /** Makes a request of any method. */
  async request<R = Result>(method: string, params?: Params, options: CallOptions = {}): Promise<R> {
    const text = await this._call(method, params, options);
    try {
      return (options.parse ?? this.#parse)(text) as R;
    } catch (cause) {
      throw new McpError("malformed", "the result is not JSON that this client can parse", { cause });
    }
  }

  /** Makes a request and gives its result as the JSON text that the server wrote. */
  requestText(method: string, params?: Params, options: CallOptions = {}): Promise<string> {
    return this._call(method, params, options);
  }

  /** Sends a notification. */
  notification(method: string, params?: Params): void {
    if (this.#closed) throw this.#closed;
    this._connection.notify(named(method), written(params, this.#stringify));
  }

  /** Ends the connection. Calls under way fail. */
  async close(): Promise<void> {
    this._connection.close();
    this.#end(undefined);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @internal */
  protected _call(
    method: string,
    params: Params | undefined,
    options: CallOptions,
    event?: (method: string, params: JsonObject | undefined) => void,
  ): Promise<string> {
    const { signal, onProgress, timeout, maxTotalTimeout } = options;
    return new Promise((resolve, reject) => {
      if (this.#closed) throw this.#closed;
      if (signal?.aborted) throw aborted(signal);
      named(method);
      const token = this.#next++;
      const stringify = options.stringify ?? this.#stringify;
      let meta = "";
      if (params?._meta) {
        meta = written(params._meta, stringify);
        params = { ...params, _meta: undefined };
      }
      const text = written(params, stringify);
      const flags =
        (onProgress ? Flag.Progress : 0) |
        (options.resetTimeoutOnProgress ? Flag.ResetOnProgress : 0) |
        (event ? Flag.Subscription : 0);
      const pending: Pending = { resolve, reject, progress: onProgress, event, parse: options.parse ?? this.#parse };
      this.#pending.set(token, pending);
      const key = this._connection.call(
        token, method, text, meta, this._level, flags, timeout ?? -1, maxTotalTimeout ?? -1,
      );
      // A call that cannot be sent has failed by now.
      if (signal && this.#pending.has(token)) {
        const cancel = () => {
          this._connection.cancel(key);
          this.#pending.delete(token);
          reject(aborted(signal));
        };
        const settle = () => signal.removeEventListener("abort", cancel);
        signal.addEventListener("abort", cancel);
        pending.resolve = (text) => (settle(), resolve(text));
        pending.reject = (error) => (settle(), reject(error));
      }
    });
  }

  #hooks(): Hooks {
    return {
      done: (token, text) => this.#take(token)?.resolve(text),
      failed: (token, code, number, message, data, cause) => {
        const error = fault(code, number, message, data, cause);
        if (token >= 0) {
          this.#take(token)?.reject(error);
        } else if (token === OPENING) {
          this.#opened?.(error);
        } else {
          this.#end(error);
        }
      },
      // What a callback throws must not unwind through wasm.
      told: (what, key, name, json) => {
        try {
          this.#told(what, key, name, json);
        } catch (error) {
          queueMicrotask(() => {
            throw error;
          });
        }
      },
    };
  }

  #told(what: Told, key: number, name: string, json: string): void {
    const pending = this.#pending.get(key);
    switch (what) {
      case Told.Progress:
        return pending?.progress?.(pending.parse(json) as Progress);
      case Told.Event:
        return pending?.event?.(name, json ? (pending.parse(json) as JsonObject) : undefined);
      case Told.Notification:
        return this.#options.onNotification?.(name, json ? this.#parse(json) : undefined);
      case Told.Ask:
        return void this.#answer(key, name, json);
      case Told.Withdrawn:
        return this.#asking.get(key)?.abort();
      case Told.Opened:
        this.#server = this.#parse(json);
        this.#version = name;
        this.#era = key ? "modern" : "legacy";
        return this.#opened?.();
      case Told.Closed:
        return this.#end(undefined);
      case Told.Message:
        return this.#options.onraw?.(key ? "received" : "sent", json);
    }
  }

  async #answer(key: number, method: string, json: string): Promise<void> {
    const abort = new AbortController();
    this.#asking.set(key, abort);
    let code = 0;
    let answer: string;
    try {
      answer = this.#stringify(await this.#asked!(method, this.#parse(json), abort.signal));
      if (typeof answer !== "string") throw new McpError(-32603, `the handler of ${method} gave no answer`);
    } catch (thrown) {
      ({ code, message: answer } = describe(thrown));
    }
    this.#asking.delete(key);
    this._connection.answer?.(key, code, answer);
  }

  #take(token: number): Pending | undefined {
    const pending = this.#pending.get(token);
    this.#pending.delete(token);
    return pending;
  }

  #end(error: McpError | undefined): void {
    if (this.#closed) return;
    this.#closed = error ?? new McpError("closed", "the connection is closed; connect again");
    this.#opened?.(this.#closed);
    for (const abort of this.#asking.values()) abort.abort();
    this.#options.onclose?.(error);
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

function fault(code: string, number: number, message: string, data: string, cause: unknown): McpError {
  const known = cause instanceof McpError ? cause : explained.get(cause as object);
  if (known) return known;
  if (!code) {
    return new McpError(number, message, data ? { data: JSON.parse(data) } : {});
  }
  const details = { data: data || undefined, status: number || undefined };
  return new McpError(code as Failure, message, cause === undefined ? details : { ...details, cause });
}
