// Calls what `sandwire/skills` exports, on a skill made in this page.
import { must } from "./checks.js";

const MAIN = "skill://refunds/SKILL.md";
const TEXT = "---\nname: refunds\ndescription: How to refund\n---\nAsk first.\n";

export async function exerciseSkills({ entry }) {
  const skills = await import(entry);
  const used = new Set();
  const exported = [...Object.keys(skills), ...Object.getOwnPropertyNames(skills.OpenSkill.prototype)];
  const call = (name, ...args) => (used.add(name), skills[name](...args));
  const file = async (uri, text) => ({ uri, digest: await digest(text), size: new TextEncoder().encode(text).length });
  call("setWasm", new URL("skills.wasm", new URL(entry, location.href)));
  const frontmatter = await call("frontMatter", TEXT);
  const skill = { uri: MAIN, frontmatter, resources: [await file(MAIN, TEXT), await file("skill://refunds/a.md", "a")] };
  const client = { request: async (method, params) => answers(skill)[method](params ?? {}) };

  const { skills: [listed] } = await call("listSkills", client);
  must(listed.uri === MAIN, "another skill");
  must((await call("readDirectory", client, { uri: "skill://refunds" })).resources.length === 2, "another directory");
  const open = await call("openSkill", client, await call("getSkill", client, MAIN));
  must((await open.instructions()) === TEXT, "other instructions");
  must((await open.read("a.md")).text === "a", "another file");
  const failed = async (promise) => promise.then(() => "nothing", (error) => error.code);
  must((await failed(open.read("../b.md"))) === "unverified", "read outside of the skill");
  const changed = { ...listed, resources: [{ ...listed.resources[0], size: 1 }] };
  must((await failed((await call("openSkill", client, changed)).instructions())) === "unverified", "read what was changed");
  return { used: [...used, "instructions", "read"], exported: exported.filter((name) => /^[a-z]/.test(name) && name !== "constructor") };
}

function answers(skill) {
  const texts = { [MAIN]: TEXT, "skill://refunds/a.md": "a" };
  return {
    "skills/list": () => ({ skills: [skill] }),
    "skills/get": () => ({ skill }),
    "resources/directory/read": () => ({ resources: skill.resources.map(({ uri }) => ({ uri, name: uri })) }),
    "resources/read": ({ uri }) => ({ contents: [{ uri, text: texts[uri] }] }),
  };
}

async function digest(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return `sha256:${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
