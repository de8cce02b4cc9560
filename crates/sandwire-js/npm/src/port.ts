import { attempt, McpError, messageOf } from "./error.js";
import type { Carrier, Module } from "./module.js";

/** Whatever has the members of a `MessagePort` that carry messages. */
export interface PortLike {
  postMessage(message: unknown): void;
  addEventListener(type: string, listener: (event: any) => void): void;
  removeEventListener(type: string, listener: (event: any) => void): void;
  start?(): void;
  close?(): void;
}

/** A server of this program that can be connected to directly. */
export interface Connectable {
  /** Serves a port. */
  serve(port: PortLike): unknown;
}

/** What a client can connect to besides a URL. A `Worker` is sent one end of a channel. */
export type Target = PortLike | Worker | Connectable;

/** @internal The port that leads to a target. */
export async function portOf(target: Target): Promise<PortLike> {
  if ("serve" in target) {
    const [here, there] = pair();
    await target.serve(there);
    return here;
  }
  if ("terminate" in target) {
    const { port1, port2 } = new MessageChannel();
    target.postMessage(null, [port2]);
    return port1;
  }
  return target;
}

const EVENTS = ["message", "messageerror", "error", "close"];

/**
 * @internal A connection's port: one JSON text per message.
 *
 * Not every host tells a port that its other end was closed, so a port that closes sends `null` first. Messages that
 * are neither text nor `null` are not for us and are left to other listeners.
 */
export class Postbox implements Carrier {
  declare _module: Module;
  declare _line: number;
  declare _port: PortLike;

  constructor(module: Module, line: number, port: PortLike) {
    this._module = module;
    this._line = line;
    this._port = port;
    for (const type of EVENTS) port.addEventListener(type, this._listen);
    port.start?.();
  }

  _listen = (event: any): void => {
    const { _module: module, _line: line } = this;
    const type = attempt(() => event.type);
    const data = type === "message" ? attempt(() => event.data) : "";
    if (type === "error" || type === "close" || data === null) {
      this._leave();
      const cause = type === "error" ? module._keep(new McpError("transport", messageOf(event), { cause: event })) : 0;
      module._exports.parted(line, cause);
    } else if (typeof data === "string") {
      // What could not be read is no JSON either.
      module._exports.arrived(line, module._put(data));
    }
  };

  _send(_request: number, _head: string, text: string): number {
    try {
      this._port.postMessage(text);
      return 0;
    } catch (cause) {
      this._leave();
      const error = new McpError("closed", "the port took no message, so the connection is over; connect again", { cause });
      return this._module._keep(error);
    }
  }

  _abort(): void {
    attempt(() => this._port.postMessage(null));
    this._leave();
  }

  _leave(): void {
    const { _port: port } = this;
    for (const type of EVENTS) attempt(() => port.removeEventListener(type, this._listen));
    attempt(() => port.close?.());
  }
}

/** @internal Two ports that hand messages to each other, one microtask later. */
export function pair(): [PortLike, PortLike] {
  const left = new Local();
  const right = new Local();
  left._peer = right;
  right._peer = left;
  return [left, right];
}

class Local implements PortLike {
  declare _peer: Local | undefined;
  _listeners = new Set<(event: any) => void>();
  _waiting: unknown[] | undefined = [];

  postMessage(data: unknown): void {
    const { _peer: peer } = this;
    if (peer) queueMicrotask(() => peer._deliver(data));
  }

  addEventListener(type: string, listener: (event: any) => void): void {
    if (type === "message") this._listeners.add(listener);
  }

  removeEventListener(type: string, listener: (event: any) => void): void {
    if (type === "message") this._listeners.delete(listener);
  }

  start(): void {
    const waiting = this._waiting ?? [];
    this._waiting = undefined;
    for (const data of waiting) this._deliver(data);
  }

  close(): void {
    this._peer = undefined;
  }

  _deliver(data: unknown): void {
    if (this._waiting) {
      this._waiting.push(data);
    } else {
      for (const listener of this._listeners) listener({ type: "message", data });
    }
  }
}
