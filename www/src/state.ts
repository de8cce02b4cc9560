/** What the page knows. Views read it, actions change it, and every change asks for one new rendering. */
import type { ElicitResult, Progress, Prompt, Resource, ResourceTemplate, Tool } from "sandwire/client";
import type { JsonObject } from "./json";
import type { FormNode } from "./schema/form";
import type { WireEntry } from "./wire";

export type Tab = "tools" | "resources" | "prompts";
export type Pane = "list" | "work" | "wire";

export interface Peer {
  name: string;
  version: string;
  title?: string;
  protocolVersion: string;
  era: string;
  /** The names of the capabilities, each with the names of its settings. */
  capabilities: Map<string, string[]>;
  instructions?: string;
}

export type ProgressEvent = Progress & { at: number };

export type RunStatus = "running" | "done" | "failed" | "cancelled";

/** One request made by hand, from the click to its end. */
export interface Run {
  key: number;
  /** Which list entry it belongs to: `tool:add`, `resource:note://today`. */
  subject: string;
  label: string;
  sent: JsonObject;
  startedAt: number;
  endedAt?: number;
  status: RunStatus;
  progress: ProgressEvent[];
  result?: JsonObject;
  /** The result as the server wrote it. */
  text?: string;
  error?: { message: string; code?: number | string; data?: unknown };
  cancel: () => void;
}

/** The arguments being prepared for a tool, a prompt or a resource template. */
export interface Draft {
  /** The schema the form was made from. */
  source: string;
  form: FormNode;
  mode: "form" | "json";
  text: string;
  problems: string[];
}

/** A question of the server that waits for a person. */
export interface Ask {
  key: number;
  message: string;
  draft: Draft;
  answer: (result: ElicitResult) => void;
}

export interface State {
  target: { url: string; headers: { name: string; value: string }[] };
  phase: "idle" | "connecting" | "connected";
  where: string;
  failure?: { message: string };
  peer?: Peer;
  tab: Tab;
  pane: Pane;
  filter: string;
  tools: Tool[];
  resources: Resource[];
  templates: ResourceTemplate[];
  prompts: Prompt[];
  selected: Partial<Record<Tab, string>>;
  drafts: Map<string, Draft>;
  runs: Run[];
  asks: Ask[];
  wire: WireEntry[];
  wireFilter: string;
  wireStart: number;
}

export const state: State = {
  target: { url: localStorage.getItem("workbench.url") ?? "", headers: [] },
  phase: "idle",
  where: "",
  tab: "tools",
  pane: "list",
  filter: "",
  tools: [],
  resources: [],
  templates: [],
  prompts: [],
  selected: {},
  drafts: new Map(),
  runs: [],
  asks: [],
  wire: [],
  wireFilter: "",
  wireStart: 0,
};

let draw: () => void = () => {};
let scheduled = false;

/** Names the function that draws the page. */
export function onChange(listener: () => void): void {
  draw = listener;
}

/** Asks for a new rendering; many changes in one turn make one rendering. */
export function changed(): void {
  if (scheduled) return;
  scheduled = true;
  queueMicrotask(() => {
    scheduled = false;
    draw();
  });
}

/** Changes the state and draws. */
export function update(change: Partial<State>): void {
  Object.assign(state, change);
  changed();
}
