// The server as a worker. All requests go to one object, whose requests may wait for each other.
import module from "./server.wasm";
import { fetch, imports, start } from "./server.glue.js";

start(new WebAssembly.Instance(module, imports()));

export class Sessions {
  fetch(request) {
    return fetch(request);
  }
}

export default {
  fetch(request, { SESSIONS }) {
    return SESSIONS.get(SESSIONS.idFromName("all")).fetch(request);
  },
};
