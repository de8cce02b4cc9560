import { McpError } from "./mcp-error.js";

export { McpError, type Failure, type McpErrorDetails } from "./mcp-error.js";

/** @internal The JSON-RPC error that stands for whatever was thrown. It throws nothing itself. */
export function describe(thrown: unknown): { code: number; message: string; data: string } {
  const code = isMcpError(thrown) ? thrown.code : 0;
  const data = attempt(() => JSON.stringify((thrown as McpError).data));
  return {
    code: Number.isSafeInteger(code) && code !== 0 ? (code as number) : -32603,
    message: messageOf(thrown),
    data: typeof data === "string" ? data : "",
  };
}

/** @internal Whether this package threw it; a proxy may throw when it is asked. */
export function isMcpError(thrown: unknown): thrown is McpError {
  return attempt(() => thrown instanceof McpError) ?? false;
}

/** @internal Why there is no connection, where not even the attempt could be made. */
export function cannotConnect(cause: unknown): McpError {
  return isMcpError(cause) ? cause : new McpError("misuse", `cannot connect like this: ${messageOf(cause)}`, { cause });
}

/** @internal What to say of whatever was thrown. */
export function messageOf(thrown: unknown): string {
  const message = attempt(() => (thrown as Error).message);
  return typeof message === "string" ? message : (attempt(() => String(thrown)) ?? "something was thrown that has no text");
}

/** @internal What there is, unless looking for it throws. */
export function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
