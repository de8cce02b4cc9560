/** The raw messages of a connection, as they are listed in the log. */

export type Direction = "out" | "in";
export type MessageKind = "request" | "notification" | "result" | "error" | "other";

export interface WireEntry {
  key: number;
  at: number;
  direction: Direction;
  kind: MessageKind;
  /** The method; for an answer, the method of the request it belongs to. */
  label: string;
  id?: string;
  /** Milliseconds since the request, for an answer. */
  after?: number;
  text: string;
  open: boolean;
}

const LIMIT = 2000;

/** Turns raw texts into entries, and joins answers with their requests. */
export class WireLog {
  #next = 1;
  #waiting = new Map<string, { method: string; at: number }>();

  /** Appends one message to `entries`, dropping the oldest when there are too many. */
  add(entries: WireEntry[], direction: Direction, text: string): void {
    const entry = this.#describe(direction, text);
    entries.push(entry);
    if (entries.length > LIMIT) entries.splice(0, entries.length - LIMIT);
  }

  #describe(direction: Direction, text: string): WireEntry {
    const entry: WireEntry = {
      key: this.#next++,
      at: performance.now(),
      direction,
      kind: "other",
      label: "message",
      text,
      open: false,
    };
    const message = parseObject(text);
    if (!message) return entry;
    const { id, method } = message;
    if (id !== undefined && id !== null) entry.id = JSON.stringify(id);
    if (typeof method === "string") {
      entry.label = method;
      entry.kind = entry.id === undefined ? "notification" : "request";
      if (entry.id !== undefined) this.#waiting.set(`${direction}${entry.id}`, { method, at: entry.at });
      return entry;
    }
    entry.kind = "error" in message ? "error" : "result";
    const asked = `${direction === "in" ? "out" : "in"}${entry.id}`;
    const request = this.#waiting.get(asked);
    if (request) {
      this.#waiting.delete(asked);
      entry.label = request.method;
      entry.after = entry.at - request.at;
    } else if (entry.id === undefined) {
      entry.label = "answer to an unknown request";
    }
    return entry;
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return { ...value };
  } catch {
    // Shown as it is.
  }
  return undefined;
}
