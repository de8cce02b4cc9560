// An edge module: `export default { fetch }` over one wasm instance.
import module from "./edge.wasm";
import { fetch, imports, start } from "./edge.glue.js";

start(new WebAssembly.Instance(module, imports()));

export default { fetch };
