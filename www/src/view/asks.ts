/** What the server asks while a call is under way. */
import { html, nothing } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { preparedOf } from "../drafts";
import { state, type Ask } from "../state";
import { problems, rootFields } from "./fields";

/** The open questions, the oldest first. */
export function asks(): unknown {
  return state.asks.length === 0 ? nothing : repeat(state.asks, (ask) => ask.key, card);
}

function card(ask: Ask): unknown {
  const accept = (event: Event) => {
    event.preventDefault();
    const content = preparedOf(ask.draft);
    if (content) ask.answer({ action: "accept", content });
  };
  return html`<form class="ask" data-testid="ask" aria-label="The server asks" novalidate @submit=${accept}>
    <h2>The server asks</h2>
    <p class="text">${ask.message}</p>
    ${rootFields(ask.draft.form)} ${problems(ask.draft)}
    <div class="actions">
      <button class="primary" data-testid="ask-accept">Answer</button>
      <button type="button" class="plain" data-testid="ask-decline" @click=${() => ask.answer({ action: "decline" })}>
        Decline
      </button>
    </div>
  </form>`;
}
