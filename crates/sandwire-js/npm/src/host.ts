import type { Glue } from "./wasm.js";

/** @internal The bindings of the server module. */
export interface ServerGlue extends Glue {
  Host: new (answerer: Answerer, info: string, capabilities: string, instructions: string, methods: string) => Host;
  Checker: new (schema: string, formats: boolean) => Checker;
}

/** @internal A schema that values are held against. The constructor throws what is wrong with it, a text. */
export interface Checker {
  check(json: string): string | undefined;
  free(): void;
}

/** @internal */
export interface Host {
  admit(hosts: string, origins: string, cors: boolean): void;
  fetch(request: Request): Promise<Response>;
  serve(port: unknown): void;
  reply(token: number, code: number, json: string, data: string): void;
  progress(token: number, progress: number, total?: number, message?: string): void;
  log(token: number, level: string, data: string, logger?: string): void;
  ask(token: number, question: number, name: string, method: string, params: string): void;
  changed(what: string): void;
}

/** @internal What the module calls. */
export interface Answerer {
  call(token: number, method: string, params: string, version: string): void;
  dropped(token: number): void;
  answered(question: number, code: number, json: string): void;
  notified(method: string, params: string): void;
  schema(tool: string): string | undefined;
}
