# The worker in workerd, at a free port of this machine.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "server", worker = .server)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "server")],
);

const server :Workerd.Worker = (
  modules = [
    (name = "worker.js", esModule = embed "worker.js"),
    (name = "server.glue.js", esModule = embed "server.glue.js"),
    (name = "server.wasm", wasm = embed "server.wasm"),
  ],
  compatibilityDate = "2026-11-01",
  durableObjectNamespaces = [(className = "Sessions", uniqueKey = "sessions", preventEviction = true)],
  durableObjectStorage = (inMemory = void),
  bindings = [(name = "SESSIONS", durableObjectNamespace = "Sessions")],
);
