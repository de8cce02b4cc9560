/** Questions of the server that a person answers: forms, as elicitation describes them. */
import type { ElicitResult, JsonObject } from "sandwire/client";
import { newDraft } from "./drafts";
import type { Schema } from "./json";
import { state, update, type Ask } from "./state";

let nextKey = 1;

/** Puts a question before the person and gives the answer; `signal` withdraws it. */
export function askPerson(params: JsonObject, signal: AbortSignal): Promise<ElicitResult> {
  return new Promise((resolve) => {
    const answer = (result: ElicitResult) => {
      update({ asks: state.asks.filter((other) => other !== ask) });
      resolve(result);
    };
    const ask: Ask = {
      key: nextKey++,
      message: String(params.message ?? ""),
      draft: newDraft((params.requestedSchema ?? { type: "object" }) as Schema),
      answer,
    };
    signal.addEventListener("abort", () => answer({ action: "cancel" }), { once: true });
    update({ asks: [...state.asks, ask], pane: "work" });
  });
}
