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

/** @internal Two ports that hand messages to each other, one microtask later. */
export function pair(): [PortLike, PortLike] {
  const left = new Local();
  const right = new Local();
  left.peer = right;
  right.peer = left;
  return [left, right];
}

class Local implements PortLike {
  peer: Local | undefined;
  #listeners = new Set<(event: any) => void>();
  #waiting: unknown[] | undefined = [];

  postMessage(data: unknown): void {
    const { peer } = this;
    if (peer) queueMicrotask(() => peer.#deliver(data));
  }

  addEventListener(type: string, listener: (event: any) => void): void {
    if (type === "message") this.#listeners.add(listener);
  }

  removeEventListener(type: string, listener: (event: any) => void): void {
    if (type === "message") this.#listeners.delete(listener);
  }

  start(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const data of waiting) this.#deliver(data);
  }

  close(): void {
    this.peer = undefined;
  }

  #deliver(data: unknown): void {
    if (this.#waiting) {
      this.#waiting.push(data);
    } else {
      for (const listener of this.#listeners) listener({ type: "message", data });
    }
  }
}
