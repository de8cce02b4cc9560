// Isolates of this kind take wasm only as a module of the bundle.
import module from "../schema.wasm";
import { setWasm } from "../schema.js";

setWasm(module);
export * from "../schema.js";
