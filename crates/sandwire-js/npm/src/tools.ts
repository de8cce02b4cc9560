import type { ConnectOptions } from "./connection.js";
import { Module } from "./module.js";
import { ToolClient } from "./tool-client.js";
import { Wasm, type WasmOption } from "./wasm.js";

export type { CallOptions, ConnectOptions, Era, JsonOptions, Validator } from "./connection.js";
export { McpError, type Failure, type McpErrorDetails } from "./error.js";
export type { FetchFunction, HeadersOption, HttpOptions } from "./fetch.js";
export type * from "./protocol.js";
export type { WasmOption, WasmSource } from "./wasm.js";

const wasm = /* @__PURE__ */ new Wasm(new Module(), () => new URL("./tools.wasm", import.meta.url));

/** Where the wasm module comes from, unless a connection says otherwise. */
export function setWasm(source: WasmOption): void {
  wasm.provide(source);
}

/** A small client that lists and calls the tools of a server at a URL. */
export class Client extends ToolClient {
  /** Connects to the server at `url`. */
  static connect(url: string | URL, options: ConnectOptions = {}): Promise<Client> {
    return new Client(options)._open(wasm, {}, url);
  }
}
