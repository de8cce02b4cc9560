import { aborted, type CallOptions } from "./connection.js";
import { McpError } from "./error.js";
import type { CallToolResult, JsonObject, Task } from "./protocol.js";

/** @internal */
export const TASKS = "io.modelcontextprotocol/tasks";

/** @internal What it takes to see a task through. */
export interface Watch {
  get(taskId: string): Promise<Task>;
  update(taskId: string, responses: JsonObject): Promise<unknown>;
  cancel(taskId: string): Promise<unknown>;
  answer(method: string, params: JsonObject, signal: AbortSignal): unknown;
}

/** @internal Waits for a task to end, and has what it asks answered. */
export async function finish(task: Task, watch: Watch, { signal }: CallOptions): Promise<CallToolResult> {
  const answered = new Set<string>();
  for (;;) {
    const { taskId, status, error } = task;
    if (status === "completed") return task.result!;
    if (status === "failed") throw new McpError(error?.code ?? -32603, error?.message ?? "the task failed", { data: error?.data });
    if (status === "cancelled") throw new McpError("cancelled", "the task was cancelled; make the call again");
    const asked = Object.entries(task.inputRequests ?? {}).filter(([key]) => !answered.has(key));
    if (asked.length) {
      const responses: JsonObject = {};
      try {
        for (const [key, { method, params }] of asked) {
          responses[key] = await watch.answer(method, params ?? {}, signal ?? new AbortController().signal);
          answered.add(key);
        }
      } catch (refusal) {
        await watch.cancel(taskId).catch(() => {});
        throw refusal;
      }
      await watch.update(taskId, responses);
    }
    await pause(Math.min(Math.max(task.pollIntervalMs ?? 1000, 50), 60_000), signal);
    task = await watch.get(taskId);
  }
}

function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => (clearTimeout(timer), reject(aborted(signal!)));
    const timer = setTimeout(() => (signal?.removeEventListener("abort", stop), resolve()), milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop);
  });
}
