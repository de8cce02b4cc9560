import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";

import { Client } from "sandwire/client";
import { McpError, frontMatter, getSkill, listSkills, openSkill, readDirectory } from "sandwire/skills";

import { stub } from "./stub.mjs";

const ROOT = "skill://acme/refunds";
const MAIN = `${ROOT}/SKILL.md`;
const TEXT = "---\nname: refunds\ndescription: How to refund\nmetadata: {version: 2}\n---\nSee Größe 1.md.\n";
const FILES = { [MAIN]: { text: TEXT }, [`${ROOT}/Gr%C3%B6%C3%9Fe%201.md`]: { text: "größer" }, [`${ROOT}/logo.png`]: { blob: "iVBORw==" } };

const bytes = ({ text, blob }) => (text === undefined ? Buffer.from(blob, "base64") : Buffer.from(text));
const listed = ([uri, file]) => ({
  uri,
  digest: `sha256:${createHash("sha256").update(bytes(file)).digest("hex")}`,
  size: bytes(file).length,
});
const entry = () => ({
  uri: MAIN,
  frontmatter: { description: "How to refund", name: "refunds", metadata: { version: 2 } },
  resources: Object.entries(FILES).map(listed),
});
const unverified = (error) => error instanceof McpError && error.code === "unverified";

async function connect(era, skill, reads = []) {
  const capabilities = { resources: {}, extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } } };
  const modern = era === "modern" ? { resultType: "complete", ttlMs: 0, cacheScope: "private" } : {};
  const server = stub(era, {
    answers: {
      "server/discover": () => era === "modern" && { ...modern, supportedVersions: ["2026-07-28"], capabilities },
      initialize: ({ protocolVersion }) => era !== "modern" && { protocolVersion, capabilities, serverInfo: { name: "s", version: "1" } },
      "skills/list": () => ({ ...modern, skills: [skill] }),
      "skills/get": ({ uri }) => ({ ...modern, skill: { ...skill, uri } }),
      "resources/directory/read": ({ uri }) => ({ ...modern, resources: [{ uri: `${uri}/a`, name: "a" }] }),
      "resources/read": ({ uri }) => (reads.push(uri), { ...modern, contents: [{ uri, ...FILES[uri] }] }),
    },
  });
  return Client.connect("https://mcp.example/mcp", { fetch: server.fetch });
}

for (const era of ["legacy", "modern"]) {
  describe(`skills, ${era}`, () => {
    test("are listed, got and read", async () => {
      const client = await connect(era, entry());
      const { skills } = await listSkills(client);
      assert.deepEqual(skills, [entry()]);
      assert.equal((await readDirectory(client, { uri: ROOT })).resources[0].uri, `${ROOT}/a`);
      const skill = await openSkill(client, await getSkill(client, MAIN));
      assert.equal(await skill.instructions(), TEXT);
      for (const path of ["Größe 1.md", "./x/../Gr%C3%B6%C3%9Fe%201.md", `${ROOT}/Größe 1.md`]) {
        assert.equal((await skill.read(path)).text, "größer", path);
      }
      assert.equal((await skill.read("logo.png")).blob, "iVBORw==");
      await client.close();
    });

    test("what differs from the entry is not used, and what is not listed is not read", async () => {
      for (const change of [
        (skill) => skill.resources[0].size++,
        (skill) => (skill.resources[0].digest = skill.resources[1].digest),
        (skill) => (skill.frontmatter.metadata = { version: 3 }),
      ]) {
        const changed = entry();
        change(changed);
        const client = await connect(era, changed);
        const skill = await openSkill(client, (await listSkills(client)).skills[0]);
        await assert.rejects(skill.instructions(), unverified);
        await client.close();
      }
      const reads = [];
      const client = await connect(era, entry(), reads);
      const skill = await openSkill(client, entry());
      for (const path of ["other.md", "../SKILL.md", "file:///etc/passwd", "skill://other/SKILL.md"]) {
        await assert.rejects(skill.read(path), unverified, path);
      }
      assert.deepEqual(reads, []);
      await client.close();
    });
  });
}

test("an entry that breaks a rule is not opened", async () => {
  const client = { request: () => assert.fail("nothing is read") };
  for (const change of [
    (skill) => (skill.uri = "skill://acme/other/SKILL.md"),
    (skill) => delete skill.frontmatter.description,
    (skill) => delete skill.resources,
    (skill) => skill.resources.push(skill.resources[0]),
    (skill) => (skill.resources[1].size = 2 ** 30),
  ]) {
    const skill = entry();
    change(skill);
    await assert.rejects(openSkill(client, skill), unverified);
  }
});

test("an entry is held as it was, whatever becomes of the object", async () => {
  const skill = entry();
  const open = await openSkill({ request: async () => ({ contents: [{ uri: MAIN, text: TEXT }] }) }, skill);
  skill.resources = "dynamic";
  await assert.rejects(open.read("other.md"), unverified);
});

test("what a server gives in place of a file is no file", async () => {
  for (const answer of [{}, { contents: null }, { contents: [null] }, { contents: [{ uri: MAIN }] }, { contents: [{ uri: MAIN, blob: "!" }] }]) {
    const open = await openSkill({ request: async () => answer }, entry());
    await assert.rejects(open.instructions(), unverified, JSON.stringify(answer));
  }
});

test("front matter becomes JSON, or says what is wrong", async () => {
  assert.deepEqual(await frontMatter(TEXT), { name: "refunds", description: "How to refund", metadata: { version: 2 } });
  await assert.rejects(frontMatter("no front matter"), /begin the file with a line/);
});
