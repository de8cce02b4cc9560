import type { Cache } from "./client.js";
import type { Params } from "./protocol.js";

/** Where results are kept: a `Map`, or what is like one and may take its time. */
export interface CacheStore {
  get(key: string): Kept | undefined | PromiseLike<Kept | undefined>;
  set(key: string, kept: Kept): unknown;
  delete(key: string): unknown;
}

/** Results by what was called, each with the time until which it may be used again. It can be cloned. */
export type Kept = { [call: string]: [until: number, result: string] };

/** How results are kept as long as modern servers say. */
export interface CacheOptions {
  /** Where. By default a `Map` of this connection's own. */
  store?: CacheStore;
  /** Names the server and the authorization: whoever gives the same text may be given the same results. */
  partition?: string;
  /** How long a result is kept at most, in milliseconds, whatever the server says. By default a day. */
  maxTtl?: number;
}

/** What the results of a method are about. Those about one subject change together. */
const SUBJECTS: { [method: string]: string } = {
  "server/discover": "server",
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resources",
  "resources/read": "contents",
};

const CHANGES: { [method: string]: string[] } = {
  "notifications/tools/list_changed": ["tools"],
  "notifications/prompts/list_changed": ["prompts"],
  "notifications/resources/list_changed": ["resources", "contents"],
  // It may name a part of what is kept.
  "notifications/resources/updated": ["contents"],
};

/** How many results about one subject are kept. */
const MAX_KEPT = 100;

/**
 * Keeps what modern servers say may be used again, until they say that it changed: `Client.connect(url, { cache: new
 * ResultCache() })`.
 */
export class ResultCache implements Cache {
  /** @internal */
  _changes: { [subject: string]: number } = {};
  /** @internal */
  declare _options: CacheOptions;
  /** @internal */
  declare _store: CacheStore;

  constructor(options: CacheOptions = {}) {
    this._options = options;
    this._store = options.store ?? new Map();
  }

  /** Makes a call, unless its result is there. What took input is for its caller alone and is not kept. */
  async call(method: string, params: Params | undefined, call: (manual: boolean) => Promise<string>): Promise<string> {
    const subject = SUBJECTS[method];
    if (!subject || params?.["_meta"] || params?.["inputResponses"] || params?.["requestState"]) return call(false);
    const key = `${this._options.partition ?? ""}\n${subject}`;
    const name = method + (JSON.stringify(params) ?? "");
    const seen = this._changes[subject];
    const current = () => this._changes[subject] === seen;
    const found = (await this._get(key))?.[name];
    if (found && found[0] > Date.now() && current()) return found[1];
    let text: string;
    try {
      text = await call(true);
    } catch (error) {
      // The pages that led to a cursor which is refused are no more.
      if ((error as { code?: unknown }).code === -32602 && params?.["cursor"] !== undefined) this._changed(subject);
      throw error;
    }
    const { resultType, ttlMs } = JSON.parse(text);
    if (resultType === "input_required") return call(false);
    if (ttlMs > 0 && current()) {
      const all = Object.entries((await this._get(key)) ?? {}).filter(([other, [until]]) => other !== name && until > Date.now());
      const until = Date.now() + Math.min(ttlMs, this._options.maxTtl ?? 86_400_000);
      await this._try(() => current() && this._store.set(key, Object.fromEntries([...all.slice(1 - MAX_KEPT), [name, [until, text]]])));
      // It may have changed while the store took its time.
      if (!current()) await this._try(() => this._store.delete(key));
    }
    return text;
  }

  /** Learns from a notification what changed. */
  hear(method: string): void {
    CHANGES[method]?.forEach((subject) => this._changed(subject));
  }

  /** Forgets everything. */
  clear(): void {
    new Set(Object.values(SUBJECTS)).forEach((subject) => this._changed(subject));
  }

  /** @internal */
  _changed(subject: string): void {
    this._changes[subject] = (this._changes[subject] ?? 0) + 1;
    void this._try(() => this._store.delete(`${this._options.partition ?? ""}\n${subject}`));
  }

  /** @internal */
  _get(key: string): Promise<Kept | undefined> {
    return this._try(() => this._store.get(key)) as Promise<Kept | undefined>;
  }

  /** @internal A store that fails keeps nothing, and nothing is lost. */
  async _try(act: () => unknown): Promise<unknown> {
    try {
      return await act();
    } catch {
      return undefined;
    }
  }
}
