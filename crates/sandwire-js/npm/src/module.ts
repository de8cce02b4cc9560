import { type Failure, McpError } from "./error.js";
import type { Glue } from "./wasm.js";

/**
 * @internal What a client module exports; `src/client.rs` says what each function does. A `length` is that of what was
 * put into the module's memory just before.
 */
export interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  room(length: number): number;
  open(id: number, flags: number, timeout: number, longest: number, rounds: number, length: number): void;
  call(id: number, token: number, flags: number, timeout: number, total: number, length: number): number;
  cancel(id: number, key: number): void;
  notify(id: number, token: number, length: number): void;
  answer(id: number, key: number, code: number, length: number): void;
  close(id: number): void;
  wake(id: number): void;
  head(id: number, request: number, status: number, length: number): void;
  chunk(id: number, request: number, length: number): void;
  over(id: number, request: number, opaque: number, cause: number): void;
  arrived(id: number, length: number): void;
  parted(id: number, cause: number): void;
}

/** @internal One connection of a module, as the module sees it. */
export interface Line {
  _carrier: Carrier;
  _told(what: number, key: number, name: string, json: string): void;
  _failed(token: number, error: McpError): void;
  _arm(milliseconds: number): void;
}

/** @internal What carries the messages of a connection. */
export interface Carrier {
  /** Begins a request, or posts the body where there are none. Gives the number of what was thrown, or 0. */
  _send(request: number, head: string, body: string): number;
  /** Ends a request, or all, which is number 0. */
  _abort(request: number): void;
}

const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });
/** @internal */
export const encoder = /* @__PURE__ */ new TextEncoder();

/** @internal A client module that runs, and its connections by their numbers. */
export class Module implements Glue {
  declare _exports: Exports;
  _lines = new Map<number, Line>();
  _thrown = new Map<number, McpError>();
  _latest = 0;

  imports(): WebAssembly.Imports {
    const bytes = (at: number, length: number) => new Uint8Array(this._exports.memory.buffer, at >>> 0, length);
    const text = (at: number, length: number) => decoder.decode(bytes(at, length));
    // What a callback throws must not unwind through wasm.
    const tell = (id: number, how: (line: Line) => void) => {
      try {
        const line = this._lines.get(id);
        if (line) how(line);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    };
    return {
      js: {
        now: () => performance.now(),
        random: (at: number, length: number) => void crypto.getRandomValues(bytes(at, length)),
        arm: (id: number, milliseconds: number) => tell(id, (line) => line._arm(milliseconds)),
        abort: (id: number, request: number) => tell(id, (line) => line._carrier?._abort(request)),
        forget: (cause: number) => void this._thrown.delete(cause),
        send: (id: number, request: number, head: number, headLength: number, body: number, bodyLength: number) =>
          this._lines.get(id)?._carrier._send(request, text(head, headLength), text(body, bodyLength)),
        told: (id: number, what: number, key: number, name: number, nameLength: number, json: number, jsonLength: number) =>
          tell(id, (line) => line._told(what, key, text(name, nameLength), text(json, jsonLength))),
        failed: (
          id: number, token: number, number: number, cause: number,
          code: number, codeLength: number, message: number, messageLength: number, data: number, dataLength: number,
        ) =>
          tell(id, (line) =>
            line._failed(
              token,
              this._thrown.get(cause) ??
                fault(text(code, codeLength) as Failure, number, text(message, messageLength), text(data, dataLength)),
            ),
          ),
      },
    };
  }

  start(instance: WebAssembly.Instance): void {
    this._exports = instance.exports as Exports;
  }

  /** Puts texts into the module's memory, joined by what they cannot have, and gives the length. */
  _put(...texts: string[]): number {
    const text = texts.join("\0");
    // Three bytes are the most that a unit of text takes; most take one.
    for (let room = text.length; ; room *= 3) {
      const at = this._exports.room(room);
      const { read, written } = encoder.encodeInto(text, new Uint8Array(this._exports.memory.buffer, at >>> 0, room));
      if (read === text.length) return written;
    }
  }

  /** Keeps an error for the module, which knows it by the number. */
  _keep(error: McpError): number {
    this._thrown.set(++this._latest, error);
    return this._latest;
  }
}

function fault(code: Failure | "", number: number, message: string, data: string): McpError {
  const details = code ? { data: data || undefined, status: number || undefined } : { data: data ? JSON.parse(data) : undefined };
  return new McpError(code || number, message, details);
}
