// Measures every client this process can reach and prints the rows as JSON, in microseconds a call.

import { parseArgs } from "node:util";
import { alternate } from "./measure.mjs";
import { peerRows } from "./peers.mjs";
import { ourRows } from "./sandwire.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "0.4" },
  },
});

const rows = [...(await peerRows()), ...(await ourRows())];
const effort = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
const measured = await alternate(rows, effort);
process.stdout.write(`${JSON.stringify({ node: process.version, rows: measured })}\n`, () => process.exit(0));
