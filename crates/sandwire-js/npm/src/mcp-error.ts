/** Why something failed, where the server did not answer with a JSON-RPC error of its own. */
export type Failure =
  /** The caller's `signal` was aborted, or the call was cancelled. */
  | "cancelled"
  /** The connection is closed. */
  | "closed"
  /** The server answers, but its CORS headers do not allow this page to ask. */
  | "cors"
  /** Client and server have no protocol version in common, or the method does not exist in it. */
  | "incompatible"
  /** What came is not what the protocol says. */
  | "malformed"
  /** The server broke a rule of the protocol. */
  | "misbehaved"
  /** The mistake is on the caller's side. */
  | "misuse"
  /** A page from `https:` may not talk to `http:`. */
  | "mixed-content"
  /** This device has no network. */
  | "offline"
  /** `fetch` failed and the host does not say why. */
  | "opaque"
  /** The server answered with an HTTP error status; see `status`. */
  | "status"
  /** No answer came in time. */
  | "timeout"
  /** A message is over the size limit. */
  | "too-large"
  /** The link failed for another reason. */
  | "transport"
  /** The server wants authorization; see `status` and, for its challenge, `data`. */
  | "unauthorized"
  /** The server ended the subscription. */
  | "unsubscribed"
  /** Nobody answers at this address. */
  | "unreachable"
  /** What was read is not what its skill's entry says, so that it must not be used. */
  | "unverified"
  /** The wasm module could not be loaded. */
  | "wasm";

/** What an {@link McpError} has besides its code and message. */
export interface McpErrorDetails {
  data?: unknown;
  cause?: unknown;
  status?: number;
}

/** Everything that this package throws. */
export class McpError extends Error {
  /** A JSON-RPC error code if the server answered with an error, else what went wrong. */
  declare readonly code: number | Failure;
  /** The JSON-RPC error's `data`, or the `WWW-Authenticate` challenge of a server that wants authorization. */
  declare readonly data: unknown;
  /** The HTTP status, where there was one. */
  declare readonly status: number | undefined;

  constructor(code: number | Failure, message: string, details: McpErrorDetails = {}) {
    super(message, details);
    this.code = code;
    this.data = details.data;
    this.status = details.status;
  }

  static {
    this.prototype.name = "McpError";
  }
}
