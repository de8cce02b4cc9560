import { attempt, type Failure, isMcpError, McpError, messageOf } from "./error.js";
import { Mirror } from "./mirror.js";
import type { Carrier, Module } from "./module.js";

/** Header fields for every request, or a function that gives them, asked before each. */
export type HeadersOption = HeadersInit | (() => HeadersInit | PromiseLike<HeadersInit>);

/** A function that takes and gives what `fetch` does. It is called with a URL and a plain object. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** How HTTP requests are made. */
export interface HttpOptions {
  /** Header fields for every request, or an (async) function that gives them, such as a fresh token. */
  headers?: HeadersOption;
  /** Used instead of the global `fetch`. */
  fetch?: FetchFunction;
  /** Whether cookies go with requests to other origins. */
  credentials?: RequestCredentials;
}

/** @internal Makes the requests of one connection and reads what answers them. */
export class Requests implements Carrier {
  _mirror = new Mirror();
  _running = new Map<number, () => void>();
  declare _module: Module;
  declare _line: number;
  declare _url: string;
  declare _options: HttpOptions;

  constructor(module: Module, line: number, url: string, options: HttpOptions) {
    this._module = module;
    this._line = line;
    this._url = url;
    this._options = options;
  }

  _send(request: number, head: string, body: string): number {
    void this._run(request, JSON.parse(head), body);
    return 0;
  }

  _abort(request: number): void {
    const abort = this._running.get(request);
    this._running.delete(request);
    abort?.();
  }

  async _run(request: number, head: { method: string; headers: Record<string, string> }, body: string): Promise<void> {
    const { _module: module, _line: line, _url: url, _running: running } = this;
    const wasm = module._exports;
    const { headers, fetch = globalThis.fetch, credentials } = this._options;
    let controller: AbortController | undefined;
    let signal: AbortSignal | null | undefined;
    let answered = false;
    const control = () => (controller ??= new AbortController());
    running.set(request, () => control().abort());
    const init: RequestInit = {
      ...head,
      body: body || undefined,
      // Made when it is looked at, for it costs more than all the rest.
      get signal() {
        return (signal ??= control().signal);
      },
      set signal(other) {
        signal = other;
      },
    };
    try {
      this._mirror._add(head.headers, body);
      if (headers) {
        const own = new Headers(typeof headers === "function" ? await headers() : headers);
        // What the protocol sets itself stays.
        for (const name in head.headers) own.set(name, head.headers[name]!);
        init.headers = Object.fromEntries(own);
      }
      if (credentials) init.credentials = credentials;
      const response = checked(await fetch(url, init));
      answered = true;
      const field = (name: string) => response.headers.get(name) ?? "";
      const challenge = response.ok ? "" : field("www-authenticate");
      wasm.head(
        line, request, response.status,
        module._put(field("content-type"), field("mcp-session-id"), challenge, field("retry-after")),
      );
      const reader = response.body?.getReader();
      for (let read; reader && !(read = await reader.read()).done; ) {
        // Not every fetch heeds its signal.
        if (!running.has(request)) return await reader.cancel();
        const { value } = read;
        if (!ArrayBuffer.isView(value)) throw value;
        const { buffer, byteOffset, byteLength } = value;
        const at = wasm.room(byteLength);
        new Uint8Array(wasm.memory.buffer, at >>> 0, byteLength).set(new Uint8Array(buffer, byteOffset, byteLength));
        wasm.chunk(line, request, byteLength);
      }
      wasm.over(line, request, 0, 0);
    } catch (thrown) {
      const name = attempt(() => (thrown as Error).name);
      const system = attempt(() => ((thrown as Error).cause as { code: unknown }).code);
      const code = name === "TypeError" ? (typeof system === "string" ? "unreachable" : "opaque") : name === "TimeoutError" ? "timeout" : "transport";
      const error =
        isMcpError(thrown)
          ? thrown
          : ((name === "TypeError" && !answered && (await explain(thrown as Error, system, url, init))) ||
            new McpError(code, code === "opaque" ? OPAQUE + fields(init) : messageOf(thrown), { cause: thrown }));
      // A bare `TypeError` may be a verdict about the server, whatever is behind it.
      wasm.over(line, request, +(code === "opaque"), module._keep(error));
    }
    running.delete(request);
  }
}

/** The `fetch` that is used may be anybody's, and what it gives anything. */
function checked(response: Response | undefined): Response {
  const { status, headers, body, bodyUsed } = response ?? {};
  const readable = !body || (typeof body.getReader === "function" && !bodyUsed);
  if (typeof status !== "number" || typeof headers?.get !== "function" || !readable) {
    throw new McpError("transport", "fetch gave no Response, or one whose body was read already; check the fetch option");
  }
  return response!;
}

const OPAQUE =
  "fetch failed and does not say why; check the address, and that the server's CORS answer allows this origin and the headers ";

/** The names of a request's header fields. */
function fields({ headers }: RequestInit): string {
  return Object.keys(headers ?? {}).join(", ");
}

/** A `TypeError` of `fetch` says nothing, so look at what the page itself can know. */
async function explain(cause: Error, system: unknown, url: string, init: RequestInit): Promise<McpError | undefined> {
  const { location, navigator } = globalThis;
  if (init.signal?.aborted || (!location && !system)) {
    return undefined;
  }
  const error = (code: Failure, message: string) => new McpError(code, message, { cause });
  if (navigator?.onLine === false) {
    return error("offline", "there is no network; connect again when the device is online");
  }
  const { protocol, hostname, origin } = new URL(url, location?.href);
  if (location?.protocol === "https:" && protocol === "http:" && !/^(localhost|127\.|\[::1\])/.test(hostname)) {
    return error("mixed-content", `a page from https: may not talk to ${origin}; serve it over https:`);
  }
  if (!system && origin !== location.origin && (await answers(url))) {
    return error(
      "cors",
      `${origin} answers, but does not allow this page; it must send ` +
        `Access-Control-Allow-Origin: ${location.origin}, and to OPTIONS Access-Control-Allow-Headers: ${fields(init)}, ` +
        `and Access-Control-Expose-Headers: mcp-session-id, www-authenticate`,
    );
  }
  const reason = system ? ` (${system})` : "";
  return error("unreachable", `nobody answers at ${origin}${reason}; check that the server runs`);
}

/** Whether there is a server, which a page may learn without being allowed to read its answer. */
function answers(url: string): Promise<boolean> {
  const signal = AbortSignal.timeout(3000);
  return globalThis
    .fetch(url, { method: "HEAD", mode: "no-cors", credentials: "omit", signal })
    .then(() => true, () => false);
}
