// Calls what `sandwire/schema` exports.
import { must, namesOf, watched } from "./checks.js";

export async function exerciseSchema({ entry, client, server }) {
  const { Schema, validator } = await import(entry);
  const used = new Set(["compile", "compileText"]);
  const even = await Schema.compile({ type: "integer", multipleOf: 2 });
  must(watched(even, used).validate(4).length === 0, "4 is not even");
  const word = await Schema.compileText('{"pattern":"^\\\\p{Lu}"}');
  must(watched(word, used).validateText('"x"')[0].keyword === "pattern", "the pattern holds for all");

  const { Client } = await import(client);
  const { Server } = await import(server);
  const made = new Server({ name: "page", version: "1" });
  made.tool("odd", { outputSchema: { type: "object", properties: { n: { const: 1 } } } }, () => ({ n: 1 }));
  const near = await Client.connect(made, { validator });
  await near.listTools();
  must((await near.callTool({ name: "odd" })).structuredContent.n === 1, "no structured content");
  await near.close();
  let blocked = false;
  try {
    new Function("");
  } catch {
    blocked = true;
  }
  must(blocked, "this page may evaluate text");
  const exported = [...Object.getOwnPropertyNames(Schema).filter((name) => typeof Schema[name] === "function"), ...namesOf(Schema)];
  return { used: [...used], exported };
}
