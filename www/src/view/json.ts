/** JSON text laid out and coloured without parsing it, so that every digit stays as it was sent. */
import { html, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";

type Token = { text: string; kind: "key" | "string" | "number" | "word" | "mark" };

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[{}[\],:]/g;
const COLOUR_LIMIT = 60_000;

/** A block with the laid-out text. */
export function jsonView(text: string, label = "JSON"): TemplateResult {
  return html`<pre class="json" tabindex="0" aria-label=${label}>${guard([text], () => layOut(text))}</pre>`;
}

/** The same for a value that is already parsed. */
export function valueView(value: unknown, label?: string): TemplateResult {
  return jsonView(JSON.stringify(value) ?? "undefined", label);
}

function layOut(text: string): unknown {
  const pieces = arrange(text);
  if (text.length > COLOUR_LIMIT) return pieces.map((piece) => piece.text).join("");
  return pieces.map((piece) => (piece.kind === "mark" ? piece.text : html`<span class=${piece.kind}>${piece.text}</span>`));
}

function arrange(text: string): Token[] {
  const found = text.match(TOKEN) ?? [];
  const pieces: Token[] = [];
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  found.forEach((token, index) => {
    const next = found[index + 1];
    switch (token) {
      case "{":
      case "[": {
        const empty = next === "}" || next === "]";
        if (!empty) depth += 1;
        pieces.push(mark(empty ? token : token + line()));
        break;
      }
      case "}":
      case "]": {
        const before = found[index - 1];
        if (before === "{" || before === "[") pieces.push(mark(token));
        else {
          depth = Math.max(0, depth - 1);
          pieces.push(mark(line() + token));
        }
        break;
      }
      case ",":
        pieces.push(mark(token + line()));
        break;
      case ":":
        pieces.push(mark(": "));
        break;
      default:
        pieces.push({ text: token, kind: kindOf(token, next) });
    }
  });
  return pieces.length === 0 ? [mark(text)] : pieces;
}

function kindOf(token: string, next: string | undefined): Token["kind"] {
  if (token.startsWith('"')) return next === ":" ? "key" : "string";
  return /^[-\d]/.test(token) ? "number" : "word";
}

function mark(text: string): Token {
  return { text, kind: "mark" };
}
