import { Base, type CallOptions } from "./connection.js";
import { McpError } from "./error.js";
import type { CallToolParams, CallToolResult, ListToolsResult, PageParams, Result, Tool } from "./protocol.js";

/** How many pages of one list are read before it is taken for endless. */
const MAX_PAGES = 1000;

/** A client that lists and calls tools. */
export class ToolClient extends Base {
  /** One page of the server's tools. */
  listTools(params?: PageParams, options?: CallOptions): Promise<ListToolsResult> {
    return this.request("tools/list", params, options);
  }

  /** All of the server's tools, page by page. */
  listAllTools(options?: CallOptions): Promise<Tool[]> {
    return this._all<Tool>("tools/list", "tools", options);
  }

  /** Calls a tool. A tool that failed has a result too, with `isError`. */
  callTool(params: CallToolParams, options?: CallOptions): Promise<CallToolResult> {
    return this.request("tools/call", params, options);
  }

  /** @internal */
  async _all<T>(method: string, member: string, options?: CallOptions): Promise<T[]> {
    const all: T[] = [];
    const seen = new Set<unknown>();
    for (let cursor: unknown; ; ) {
      const page = await this.request<Result>(method, cursor === undefined ? undefined : { cursor }, options);
      const items = (page as Result | null)?.[member];
      if (!Array.isArray(items)) throw new McpError("misbehaved", `the server's answer to ${method} has no list of ${member}`);
      for (const item of items) all.push(item as T);
      cursor = page.nextCursor ?? undefined;
      if (cursor === undefined) return all;
      if (seen.has(cursor) || seen.add(cursor).size >= MAX_PAGES) {
        throw new McpError("misbehaved", "the server's list does not end; read its pages one by one");
      }
    }
  }
}
