import { McpError } from "./error.js";
import type { CallOptions } from "./connection.js";
import type {
  JsonObject, ListResourcesResult, ListSkillsResult, PageParams, ReadResourceParams, ReadResourceResult, ResourceContents,
  Skill,
} from "./protocol.js";
import { Wasm, type Glue, type WasmOption } from "./wasm.js";

export { McpError, type Failure, type McpErrorDetails } from "./error.js";
export type { CallOptions } from "./connection.js";
export type { JsonObject, ListSkillsResult, ResourceContents, Skill, SkillResource } from "./protocol.js";
export type { WasmOption, WasmSource } from "./wasm.js";

interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  room(length: number): number;
  resolve(entry: number, length: number): number;
  verify(entry: number, uri: number, length: number): number;
  front(length: number): number;
}

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { ignoreBOM: true });

/** The module, whose functions take bytes and say a text. `src/skills.rs` is the other side. */
class Checks implements Glue {
  declare _exports: Exports;
  _said = "";

  imports(): WebAssembly.Imports {
    const say = (at: number, length: number) => {
      this._said = decoder.decode(new Uint8Array(this._exports.memory.buffer, at >>> 0, length));
    };
    return { js: { say } };
  }

  start(instance: WebAssembly.Instance): void {
    this._exports = instance.exports as Exports;
  }

  /** Calls a function with the lengths of what is given, but the last, and of all; gives what it says. */
  _ask(name: "resolve" | "verify" | "front", ...parts: Uint8Array[]): string {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    let at = this._exports.room(length) >>> 0;
    for (const part of parts) {
      new Uint8Array(this._exports.memory.buffer, at, part.length).set(part);
      at += part.length;
    }
    const lengths = [...parts.slice(0, -1).map((part) => part.length), length];
    const ask = this._exports[name] as (...lengths: number[]) => number;
    if (ask(...lengths) !== 0) throw new McpError("unverified", this._said);
    return this._said;
  }
}

const wasm = /* @__PURE__ */ new Wasm(new Checks(), () => new URL("./skills.wasm", import.meta.url));

/** Where the wasm module comes from. */
export function setWasm(source: WasmOption): void {
  wasm.provide(source);
}

/** A client of any module of this package, or anything else that makes requests. */
export interface Requester {
  request<R = unknown>(method: string, params?: JsonObject, options?: CallOptions): Promise<R>;
}

/** One page of the skills that a server lists. It may have others: see {@link getSkill}. */
export function listSkills(client: Requester, params?: PageParams, options?: CallOptions): Promise<ListSkillsResult> {
  return client.request("skills/list", params, options);
}

/** The skill whose `SKILL.md` is at an address, listed or not; again, when what it was has changed. */
export async function getSkill(client: Requester, uri: string, options?: CallOptions): Promise<Skill> {
  return (await client.request<{ skill: Skill }>("skills/get", { uri }, options)).skill;
}

/** What a directory of resources holds now, a page of it. What a skill may use stands in its entry, not here. */
export function readDirectory(
  client: Requester,
  params: ReadResourceParams & PageParams,
  options?: CallOptions,
): Promise<ListResourcesResult> {
  return client.request("resources/directory/read", params, options);
}

/**
 * Takes up a skill. Nothing of it is read yet. The entry is the server's word about itself: show it to a person, and
 * which server it is from, before its instructions reach a model.
 *
 * It fails with an error of code `unverified` if the entry breaks a rule of skills, so that it must not be loaded.
 */
export async function openSkill(client: Requester, skill: Skill): Promise<OpenSkill> {
  const opened = new OpenSkill(client, skill, await wasm.load());
  opened._resolve("");
  return opened;
}

/** The front matter of a `SKILL.md`: YAML between two lines `---`, as JSON. */
export async function frontMatter(text: string): Promise<JsonObject> {
  return JSON.parse((await wasm.load())._ask("front", encoder.encode(text)));
}

/**
 * A skill that is acted on. Its entry is held; what differs from it is an error of code `unverified`. Then get the skill
 * again, and have it approved anew.
 */
export class OpenSkill {
  /** The entry that is held. */
  readonly skill: Skill;
  /** @internal */
  declare _client: Requester;
  /** @internal */
  declare _checks: Checks;
  /** @internal */
  declare _entry: Uint8Array;

  /** @internal */
  constructor(client: Requester, skill: Skill, checks: Checks) {
    this.skill = structuredClone(skill);
    this._client = client;
    this._checks = checks;
    this._entry = encoder.encode(JSON.stringify(skill));
  }

  /** Its `SKILL.md`, front matter and all. */
  async instructions(options?: CallOptions): Promise<string> {
    const { text } = await this.read(this.skill.uri, options);
    if (text === undefined) throw new McpError("unverified", "the skill's instructions are no text");
    return text;
  }

  /** One of its files, by its path within the skill or by its address. */
  async read(path: string, options?: CallOptions): Promise<ResourceContents> {
    const uri = this._resolve(path);
    const { contents } = await this._client.request<ReadResourceResult>("resources/read", { uri }, options);
    const file = contents?.find?.((file) => file?.uri === uri);
    if (!file) throw new McpError("unverified", "the server gave another file than the one asked for");
    this._checks._ask("verify", this._entry, encoder.encode(uri), bytesOf(file));
    return file;
  }

  /** @internal */
  _resolve(path: string): string {
    return this._checks._ask("resolve", this._entry, encoder.encode(path));
  }
}

function bytesOf(file: ResourceContents): Uint8Array {
  if (typeof file.text === "string") return encoder.encode(file.text);
  try {
    return Uint8Array.from(atob(file.blob as string), (digit) => digit.charCodeAt(0));
  } catch (cause) {
    throw new McpError("unverified", "the file's bytes are not in base64", { cause });
  }
}
