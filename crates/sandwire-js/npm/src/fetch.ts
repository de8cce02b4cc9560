import { McpError } from "./error.js";

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

/** @internal Hears what comes of requests. */
export interface Arrivals {
  head(id: number, status: number, type: string, session?: string, challenge?: string): void;
  chunk(id: number, bytes: Uint8Array): void;
  over(id: number, thrown?: unknown): void;
}

/** @internal Makes the requests of one connection and reads what answers them. */
export class Requests {
  arrivals!: Arrivals;
  #url: string;
  #options: HttpOptions;

  constructor(url: string, options: HttpOptions) {
    this.#url = url;
    this.#options = options;
  }

  send(id: number, head: { method: string; headers: Record<string, string> }, body?: string): { abort(): void } {
    let controller: AbortController | undefined;
    let signal: AbortSignal | null | undefined;
    const control = () => (controller ??= new AbortController());
    void this.#run(id, {
      method: head.method,
      headers: { ...head.headers },
      body,
      // Made when it is looked at, for it costs more than all the rest.
      get signal() {
        return (signal ??= control().signal);
      },
      set signal(other) {
        signal = other;
      },
    });
    return { abort: () => control().abort() };
  }

  async #run(id: number, init: RequestInit): Promise<void> {
    const { arrivals } = this;
    try {
      const { status, ok, headers, body } = checked(await this.#fetch(init));
      const get = (name: string) => headers.get(name) ?? undefined;
      arrivals.head(id, status, get("content-type") ?? "", get("mcp-session-id"), ok ? undefined : get("www-authenticate"));
      const reader = body?.getReader();
      for (let read; reader && !(read = await reader.read()).done; ) {
        if (!ArrayBuffer.isView(read.value)) throw read.value;
        arrivals.chunk(id, read.value);
      }
      arrivals.over(id);
    } catch (thrown) {
      arrivals.over(id, thrown ?? "fetch failed");
    }
  }

  async #fetch(init: RequestInit): Promise<Response> {
    const { headers, fetch = globalThis.fetch, credentials } = this.#options;
    try {
      if (headers) {
        // What the protocol sets itself stays.
        const own = new Headers(typeof headers === "function" ? await headers() : headers);
        for (const [name, value] of Object.entries(init.headers as Record<string, string>)) {
          own.set(name, value);
        }
        init.headers = Object.fromEntries(own);
      }
      if (credentials) {
        init.credentials = credentials;
      }
      return await fetch(this.#url, init);
    } catch (thrown) {
      if ((thrown as Error | undefined)?.name === "TypeError") {
        const error = await explain(thrown as Error, this.#url, init);
        if (error) explained.set(thrown as Error, error);
      }
      throw thrown;
    }
  }
}

/** The `fetch` that is used may be anybody's, and what it gives anything. */
function checked(response: Response | undefined): Response {
  const { status, headers, body, bodyUsed } = response ?? {};
  const readable = body === null || body === undefined || typeof body.getReader === "function";
  if (typeof status !== "number" || typeof headers?.get !== "function" || !readable || bodyUsed) {
    throw new McpError("transport", "fetch gave no Response, or one whose body was read already; check the fetch option");
  }
  return response!;
}

/** @internal What is behind the `TypeError`s that `fetch` threw. They go on as they are: a bare one may be a verdict. */
export const explained = /* @__PURE__ */ new WeakMap<object, McpError>();

/** A `TypeError` of `fetch` says nothing, so look at what the page itself can know. */
async function explain(cause: Error, url: string, init: RequestInit): Promise<McpError | undefined> {
  const { location, navigator } = globalThis;
  const system = (cause.cause as { code?: string } | undefined)?.code;
  if (init.signal?.aborted || (!location && !system)) {
    return undefined;
  }
  if (navigator?.onLine === false) {
    return new McpError("offline", "there is no network; connect again when the device is online", { cause });
  }
  const target = new URL(url, location?.href);
  const local = /^(localhost|127\.|\[::1\])/.test(target.hostname);
  if (location?.protocol === "https:" && target.protocol === "http:" && !local) {
    const message = `a page from https: may not talk to ${target.origin}; serve it over https:`;
    return new McpError("mixed-content", message, { cause });
  }
  if (!system && target.origin !== location.origin && (await answers(target))) {
    const names = Object.keys(init.headers as Record<string, string>).join(", ");
    const message =
      `${target.origin} answers, but does not allow this page; it must send ` +
      `Access-Control-Allow-Origin: ${location.origin}, and to OPTIONS Access-Control-Allow-Headers: ${names}, ` +
      `and Access-Control-Expose-Headers: mcp-session-id, www-authenticate`;
    return new McpError("cors", message, { cause });
  }
  const reason = system ? ` (${system})` : "";
  return new McpError("unreachable", `nobody answers at ${target.origin}${reason}; check that the server runs`, { cause });
}

/** Whether there is a server, which a page may learn without being allowed to read its answer. */
function answers(url: URL): Promise<boolean> {
  const signal = AbortSignal.timeout(3000);
  return globalThis
    .fetch(url, { method: "HEAD", mode: "no-cors", credentials: "omit", signal })
    .then(() => true, () => false);
}
