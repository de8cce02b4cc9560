import { McpError } from "./error.js";
import type { Host } from "./host.js";
import type { CreateMessageResult, ElicitResult, JsonObject, ListRootsResult, LoggingLevel } from "./protocol.js";

/** What a handler can say to the client, and ask it, while its call is under way. */
export class Context {
  /** Aborted when the client gives up on the call. */
  readonly signal: AbortSignal;
  /** The version that the client speaks. */
  readonly protocolVersion: string;
  /** What the request brought beside its parameters. */
  readonly meta: JsonObject | undefined;
  #host: Host;
  #token: number;
  #ask: Ask;
  #unfit: Unfit;

  /** @internal */
  constructor(host: Host, token: number, signal: AbortSignal, version: string, meta: JsonObject | undefined, ask: Ask, unfit: Unfit) {
    this.#host = host;
    this.#token = token;
    this.#ask = ask;
    this.#unfit = unfit;
    this.signal = signal;
    this.protocolVersion = version;
    this.meta = meta;
  }

  /** Tells the client how far the call is, if it wants to know. `progress` must grow. */
  progress(progress: number, total?: number, message?: string): void {
    this.#host.progress(this.#token, progress, total, message);
  }

  /** Sends a log message, if the client wants messages of this level. */
  log(level: LoggingLevel, data: unknown, logger?: string): void {
    this.#host.log(this.#token, level, JSON.stringify(data) ?? "null", logger);
  }

  /**
   * Asks the user to fill a form. `key` tells this question from the others of the call.
   *
   * With a modern client the handler ends at its first question, and is run again from its beginning once there is
   * an answer: what stands before a question may run more than once.
   */
  async elicit(key: string, params: { message: string; requestedSchema: JsonObject }): Promise<ElicitResult> {
    const answer = await this.#question<ElicitResult>(key, "elicitation/create", { mode: "form", ...params });
    const wrong = answer.action === "accept" && this.#unfit(params.requestedSchema, answer.content);
    if (wrong) throw new McpError(-32602, `the answer to a question cannot be used: ${wrong}`);
    return answer;
  }

  /** Asks the client's model. Runs again like {@link elicit}. */
  sample(key: string, params: { messages: unknown[]; maxTokens: number } & JsonObject): Promise<CreateMessageResult> {
    return this.#question(key, "sampling/createMessage", params);
  }

  /** Asks which folders the client works in. Runs again like {@link elicit}. */
  roots(key: string): Promise<ListRootsResult> {
    return this.#question(key, "roots/list", {});
  }

  async #question<R>(key: string, method: string, params: JsonObject): Promise<R> {
    const { code, json } = await this.#ask(this.#token, key, method, JSON.stringify(params));
    if (code) throw new McpError(code, json);
    return JSON.parse(json);
  }
}

/** @internal */
export type Unfit = (form: unknown, content: unknown) => string | undefined;

/** @internal */
export type Ask = (token: number, key: string, method: string, params: string) => Promise<{ code: number; json: string }>;
