// Isolates of this kind take wasm only as a module of the bundle.
import module from "../server.wasm";
import { setWasm } from "../server.js";

setWasm(module);
export * from "../server.js";
