/** The calls made so far: progress with times, the answer, and what was sent. */
import { html, nothing, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import { state, type ProgressEvent, type Run } from "../state";
import { outcome } from "./content";
import { span } from "./format";
import { jsonView, valueView } from "./json";

const WORDS: Record<Run["status"], string> = {
  running: "running",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
};

/** The runs that belong to one list entry, newest first. */
export function runsOf(subject: string): unknown {
  const runs = state.runs.filter((run) => run.subject === subject);
  if (runs.length === 0) return nothing;
  return html`<section class="runs" aria-label="Calls">
    ${repeat(runs, (run) => run.key, card)}
  </section>`;
}

function card(run: Run): TemplateResult {
  const took = run.endedAt === undefined ? undefined : run.endedAt - run.startedAt;
  return html`<article class="run" data-testid="run" data-status=${run.status} data-key=${run.key}>
    <header>
      <span class="status" role="status">${WORDS[run.status]}</span>
      <code class="label">${run.label}</code>
      ${took === undefined
        ? html`<button type="button" class="danger" data-testid="cancel" @click=${run.cancel}>Cancel</button>`
        : html`<time class="took" data-testid="took" data-ms=${took.toFixed(1)}>${span(took)}</time>`}
    </header>
    ${progress(run)} ${run.result ? html`<div class="result" data-testid="result">${outcome(run.result)}</div>` : nothing}
    ${run.error && run.status !== "cancelled" ? failure(run) : nothing}
    <details class="raw">
      <summary>Sent and received</summary>
      <h4>Parameters</h4>
      ${valueView(run.sent, "Parameters")}
      ${run.result ? html`<h4>Result</h4><div data-testid="raw-result">${jsonView(run.text ?? "", "Result")}</div>` : nothing}
    </details>
  </article>`;
}

function progress(run: Run): unknown {
  const last = run.progress.at(-1);
  if (!last) return run.status === "running" ? html`<progress aria-label="Waiting for the answer"></progress>` : nothing;
  const whole = last.total ?? 0;
  return html`<div class="progress">
    ${whole > 0
      ? html`<progress max=${whole} value=${last.progress} aria-label="Progress"></progress>`
      : run.status === "running"
        ? html`<progress aria-label="Progress"></progress>`
        : nothing}
    <ol>
      ${run.progress.map((event) => step(run, event))}
    </ol>
  </div>`;
}

function step(run: Run, event: ProgressEvent): TemplateResult {
  const after = event.at - run.startedAt;
  return html`<li data-testid="progress" data-ms=${after.toFixed(1)}>
    <time>${span(after)}</time>
    <span class="count">${event.progress}${event.total === undefined ? "" : ` / ${event.total}`}</span>
    ${event.message ? html`<span>${event.message}</span>` : nothing}
  </li>`;
}

function failure(run: Run): TemplateResult {
  const { message, code, data } = run.error ?? { message: "" };
  return html`<div class="error" data-testid="error">
    <p>${code === undefined ? nothing : html`<code>${code}</code>`} ${message}</p>
    ${data === undefined ? nothing : valueView(data, "Error data")}
  </div>`;
}
