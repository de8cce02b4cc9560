import { Base, type CallOptions } from "./connection.js";
import type { CallToolParams, CallToolResult, ListToolsResult, PageParams, Tool } from "./protocol.js";

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
}
