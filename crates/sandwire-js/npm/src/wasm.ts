import { McpError } from "./error.js";

/** Where a wasm module can come from. */
export type WasmSource = WebAssembly.Module | BufferSource | Response | URL | string;

/** A source, a promise of one, or a function that gives either. */
export type WasmOption = WasmSource | PromiseLike<WasmSource> | (() => WasmSource | PromiseLike<WasmSource>);

/** @internal What the glue of a module exports beside its bindings. */
export interface Glue {
  imports(): WebAssembly.Imports;
  start(instance: WebAssembly.Instance): unknown;
}

/** @internal A module that is loaded when it is first needed. */
export class Wasm<G extends Glue> {
  declare _glue: G;
  declare _source: WasmOption;
  declare _ready: Promise<G> | undefined;

  constructor(glue: G, source: WasmOption) {
    this._glue = glue;
    this._source = source;
  }

  provide(source: WasmOption): void {
    this._source = source;
  }

  load(source: WasmOption = this._source): Promise<G> {
    return (this._ready ??= this._start(source).catch((cause: unknown) => {
      this._ready = undefined;
      throw new McpError("wasm", "the wasm module could not be loaded; give it with the option `wasm`", { cause });
    }));
  }

  async _start(source: WasmOption): Promise<G> {
    const found = await (typeof source === "function" ? source() : source);
    this._glue.start(await instantiate(found, this._glue.imports()));
    return this._glue;
  }
}

async function instantiate(source: WasmSource, imports: WebAssembly.Imports): Promise<WebAssembly.Instance> {
  if (typeof source === "string" || source instanceof URL) {
    source = (await file(source)) ?? (await fetch(source));
  }
  if (typeof Response === "function" && source instanceof Response) {
    if (!source.ok) {
      throw new Error(`${source.url} answered with HTTP status ${source.status}`);
    }
    if (source.headers.get("content-type")?.startsWith("application/wasm")) {
      return (await WebAssembly.instantiateStreaming(source, imports)).instance;
    }
    source = await source.arrayBuffer();
  }
  const made: any = await WebAssembly.instantiate(source as BufferSource, imports);
  // Of a compiled module it is the instance itself.
  return made.instance ?? made;
}

/** Node's `fetch` does not read files. */
function file(url: URL | string): Promise<BufferSource> | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): any } };
  return `${url}`.startsWith("file:")
    ? process?.getBuiltinModule?.("node:fs")?.promises.readFile(new URL(url))
    : undefined;
}
