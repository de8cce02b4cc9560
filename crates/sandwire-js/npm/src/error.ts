import { McpError } from "./mcp-error.js";

export { McpError, type Failure, type McpErrorDetails } from "./mcp-error.js";

/** @internal The JSON-RPC error that stands for whatever was thrown. It throws nothing itself. */
export function describe(thrown: unknown): { code: number; message: string; data: string } {
  const code = thrown instanceof McpError ? thrown.code : 0;
  const data = attempt(() => JSON.stringify((thrown as McpError).data));
  return {
    code: Number.isSafeInteger(code) && code !== 0 ? (code as number) : -32603,
    message: messageOf(thrown),
    data: typeof data === "string" ? data : "",
  };
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
