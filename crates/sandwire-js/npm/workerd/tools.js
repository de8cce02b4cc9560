// Isolates of this kind take wasm only as a module of the bundle.
import module from "../tools.wasm";
import { setWasm } from "../tools.js";

setWasm(module);
export * from "../tools.js";
