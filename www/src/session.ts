/** What the page can do: connect, list, call, cancel, disconnect. Everything ends up in the state. */
import { type CallOptions, Client, McpError } from "sandwire/client";
import { askPerson } from "./asks";
import { startBuiltin } from "./builtin";
import type { JsonObject } from "./json";
import { changed, state, update, type Run } from "./state";
import { WireLog } from "./wire";

export const BUILTIN = "built-in server";

let client: Client | undefined;
let stop: () => void = () => {};
/** Aborted when the connection, or the attempt to make one, is given up. */
let life = new AbortController();
let nextRun = 1;

/** Connects to the server in the worker. */
export function connectBuiltin(): Promise<void> {
  return open(BUILTIN, () => {
    const worker = startBuiltin();
    stop = () => worker.terminate();
    return worker;
  });
}

/** Connects to the address in the state, with the headers beside it. */
export function connectUrl(): Promise<void> {
  const url = state.target.url.trim();
  localStorage.setItem("workbench.url", url);
  return open(url, () => new URL(url, location.href).href);
}

async function open(where: string, target: () => string | Worker): Promise<void> {
  await disconnect();
  const log = new WireLog();
  const { signal } = (life = new AbortController());
  delete state.failure;
  update({ phase: "connecting", where, wire: [], wireStart: performance.now() });
  try {
    const opened = await Client.connect(target(), {
      name: "sandwire-workbench",
      headers: headersOf(),
      signal,
      handlers: { "elicitation/create": (params, extra) => askPerson(params, extra.signal) },
      onNotification: (method) => void refresh(method),
      onraw: (direction, text) => {
        log.add(state.wire, direction === "sent" ? "out" : "in", text);
        changed();
      },
      onclose: (error) => {
        if (error && !signal.aborted) void fail(error);
      },
    });
    if (signal.aborted) return void opened.close();
    client = opened;
    adopt(opened);
    await loadLists(opened);
    hearChanges(opened, signal);
  } catch (error) {
    if (!signal.aborted) await fail(error);
  }
}

function headersOf(): Record<string, string> {
  const named = state.target.headers.filter((header) => header.name.trim() !== "");
  return Object.fromEntries(named.map((header) => [header.name.trim(), header.value]));
}

function adopt(opened: Client): void {
  const info = opened.getServerVersion();
  const instructions = opened.getInstructions();
  const capabilities = Object.entries(opened.getServerCapabilities() ?? {});
  update({
    phase: "connected",
    peer: {
      name: info?.name ?? "unnamed server",
      version: info?.version ?? "",
      ...(info?.title ? { title: info.title } : {}),
      protocolVersion: opened.protocolVersion,
      era: opened.era,
      capabilities: new Map(capabilities.map(([name, settings]) => [name, Object.keys(settings ?? {})])),
      ...(instructions ? { instructions } : {}),
    },
  });
}

async function loadLists(from: Client): Promise<void> {
  const { tools, resources, prompts } = from.getServerCapabilities() ?? {};
  if (tools) await loadTools(from);
  if (resources) await loadResources(from);
  if (prompts) await loadPrompts(from);
  if (!tools && resources) update({ tab: "resources" });
  else if (!tools && prompts) update({ tab: "prompts" });
}

async function loadTools(from: Client): Promise<void> {
  const tools = await from.listAllTools();
  update({ tools });
  if (!tools.some((tool) => tool.name === state.selected.tools)) select("tools", tools[0]?.name);
}

async function loadResources(from: Client): Promise<void> {
  const resources = await from.listAllResources();
  const templates = await from.listAllResourceTemplates().catch(() => []);
  update({ resources, templates });
  if (!state.selected.resources) select("resources", resources[0]?.uri ?? templates[0]?.uriTemplate);
}

async function loadPrompts(from: Client): Promise<void> {
  const prompts = await from.listAllPrompts();
  update({ prompts });
  if (!state.selected.prompts) select("prompts", prompts[0]?.name);
}

/** A legacy server tells of changes by itself, a modern one when it is asked to. */
function hearChanges(from: Client, signal: AbortSignal): void {
  const { tools, resources, prompts } = from.getServerCapabilities() ?? {};
  const wanted = {
    ...(tools?.listChanged ? { toolsListChanged: true } : {}),
    ...(resources?.listChanged ? { resourcesListChanged: true } : {}),
    ...(prompts?.listChanged ? { promptsListChanged: true } : {}),
  };
  if (from.era !== "modern" || Object.keys(wanted).length === 0) return;
  // How it ends is in the log of messages; the lists then stay as they are.
  from.listen(wanted, (method) => void refresh(method), { signal }).catch(() => {});
}

async function refresh(method: string): Promise<void> {
  const from = client;
  if (!from) return;
  try {
    if (method === "notifications/tools/list_changed") await loadTools(from);
    if (method === "notifications/resources/list_changed") await loadResources(from);
    if (method === "notifications/prompts/list_changed") await loadPrompts(from);
  } catch {
    // The old list stays; the refusal is in the log of messages.
  }
}

function select(tab: "tools" | "resources" | "prompts", entry: string | undefined): void {
  const { [tab]: _, ...others } = state.selected;
  update({ selected: entry === undefined ? others : { ...others, [tab]: entry } });
}

/** Calls a tool and records the run. */
export function callTool(name: string, args: JsonObject): void {
  run(`tool:${name}`, name, { name, arguments: args }, (from, options) =>
    from.callTool({ name, arguments: args }, options),
  );
}

/** Reads a resource; `subject` is the list entry it is shown under. */
export function readResource(uri: string, subject = uri): void {
  run(`resource:${subject}`, uri, { uri }, (from, options) => from.readResource({ uri }, options));
}

/** Asks for a prompt. */
export function getPrompt(name: string, args: Record<string, string>): void {
  run(`prompt:${name}`, name, { name, arguments: args }, (from, options) =>
    from.getPrompt({ name, arguments: args }, options),
  );
}

type RunOptions = Required<Pick<CallOptions, "signal" | "onProgress" | "timeout" | "parse">>;

function run(
  subject: string,
  label: string,
  sent: JsonObject,
  ask: (from: Client, options: RunOptions) => Promise<unknown>,
): void {
  const from = client;
  if (!from) return;
  const abort = new AbortController();
  const entry: Run = {
    key: nextRun++,
    subject,
    label,
    sent,
    startedAt: performance.now(),
    status: "running",
    progress: [],
    cancel: () => abort.abort(),
  };
  state.runs.unshift(entry);
  changed();
  ask(from, {
    signal: abort.signal,
    // A person watches, and has a button to cancel.
    timeout: Infinity,
    onProgress(progress) {
      entry.progress.push({ ...progress, at: performance.now() });
      changed();
    },
    parse(text) {
      entry.text = text;
      return JSON.parse(text);
    },
  })
    .then((result) => {
      entry.result = result as JsonObject;
      entry.status = entry.result.isError === true ? "failed" : "done";
    })
    .catch((error: unknown) => {
      entry.status = abort.signal.aborted ? "cancelled" : "failed";
      entry.error = describe(error);
    })
    .finally(() => {
      entry.endedAt = performance.now();
      changed();
    });
}

function describe(error: unknown): NonNullable<Run["error"]> {
  if (error instanceof McpError) {
    return {
      message: error.message,
      code: error.code,
      ...(error.data === undefined ? {} : { data: error.data }),
    };
  }
  return { message: error instanceof Error ? error.message : String(error) };
}

async function fail(error: unknown): Promise<void> {
  const { message } = describe(error);
  await disconnect();
  update({ failure: { message } });
}

/** Gives up an opening, or ends the connection; the log of messages stays to be read. */
export async function disconnect(): Promise<void> {
  life.abort();
  const closing = client;
  client = undefined;
  delete state.peer;
  update({
    phase: "idle",
    tab: "tools",
    pane: "list",
    filter: "",
    tools: [],
    resources: [],
    templates: [],
    prompts: [],
    selected: {},
    runs: [],
    asks: [],
  });
  state.drafts.clear();
  await closing?.close();
  stop();
  stop = () => {};
}
