/** URI templates (RFC 6570), as far as filling one in by hand needs: every operator, plain values. */
import type { JsonObject } from "./json";

const EXPRESSION = /\{([+#./;?&]?)([^}]+)\}/g;

/** The names of the variables, in order, each once. */
export function variablesOf(template: string): string[] {
  const names = [...template.matchAll(EXPRESSION)].flatMap((match) => namesIn(match[2] ?? ""));
  return [...new Set(names)];
}

/** Puts the values in; a variable without a value is left out. */
export function expand(template: string, values: JsonObject): string {
  return template.replace(EXPRESSION, (_, operator: string, list: string) => {
    const rule = RULES[operator] ?? RULES[""];
    const parts = namesIn(list).flatMap((name) => {
      const value = values[name];
      if (value === undefined || value === null) return [];
      const text = rule.reserved ? encodeURI(String(value)) : strict(String(value));
      return [rule.named ? `${name}=${text}` : text];
    });
    return parts.length === 0 ? "" : rule.first + parts.join(rule.between);
  });
}

interface Rule {
  first: string;
  between: string;
  named: boolean;
  reserved: boolean;
}

const RULES: Record<string, Rule> & { "": Rule } = {
  "": { first: "", between: ",", named: false, reserved: false },
  "+": { first: "", between: ",", named: false, reserved: true },
  "#": { first: "#", between: ",", named: false, reserved: true },
  ".": { first: ".", between: ".", named: false, reserved: false },
  "/": { first: "/", between: "/", named: false, reserved: false },
  ";": { first: ";", between: ";", named: true, reserved: false },
  "?": { first: "?", between: "&", named: true, reserved: false },
  "&": { first: "&", between: "&", named: true, reserved: false },
};

function namesIn(list: string): string[] {
  return list.split(",").map((name) => name.trim().replace(/(\*|:\d+)$/, ""));
}

function strict(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
