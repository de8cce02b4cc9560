// Isolates of this kind take wasm only as a module of the bundle.
import module from "../client.wasm";
import { setWasm } from "../client.js";

setWasm(module);
export * from "../client.js";
