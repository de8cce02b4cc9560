// Isolates of this kind take wasm only as a module of the bundle.
import module from "../skills.wasm";
import { setWasm } from "../skills.js";

setWasm(module);
export * from "../skills.js";
