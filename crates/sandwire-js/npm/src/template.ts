const MAX_LENGTH = 4096;

/** @internal Reads the variables of a URI template from an address: `{name}` and `{+path}` are known. */
export function matcher(template: string): (uri: string) => { [name: string]: string } | undefined {
  const names: string[] = [];
  const plain: boolean[] = [];
  const literals: string[] = [];
  template.split(/\{([^}]*)\}/).forEach((part, index) => {
    if (index % 2 === 0) return literals.push(part);
    const [, reserved, name] = /^(\+?)(\w+)$/.exec(part) ?? [];
    if (!name || names.includes(name)) throw new TypeError(`the URI template ${template} has a part {${part}} that is not supported`);
    names.push(name);
    return plain.push(!reserved);
  });
  return (uri) => {
    if (uri.length > MAX_LENGTH) return undefined;
    const found = split(uri, literals, plain);
    if (!found) return undefined;
    try {
      const values = found.map(decodeURIComponent);
      if (values.some(climbs) || climbs(decodeURIComponent(uri))) return undefined;
      return Object.fromEntries(names.map((name, index) => [name, values[index]!]));
    } catch {
      return undefined;
    }
  };
}

/** What stands between the literals, each value as long as it can be, the first ones first. */
function split(uri: string, literals: string[], plain: boolean[]): string[] | undefined {
  const count = plain.length;
  // From where the rest of the address fits the rest of the template. One row for each literal, the last one first:
  // a search that went back and forth would take a hostile address's word for how long it may run.
  let fits = new Uint8Array(uri.length + 1);
  const last = literals[count]!;
  if (uri.endsWith(last)) fits[uri.length - last.length] = 1;
  const ends: Int32Array[] = [];
  for (let part = count - 1; part >= 0; part--) {
    const before = new Uint8Array(uri.length + 1);
    const literal = literals[part]!;
    const end = (ends[part] = new Int32Array(uri.length + 1));
    // `longest` is the furthest end of a value that begins here.
    for (let at = uri.length - 1, longest = 0; at >= 0; at--) {
      if (plain[part] && "/?#".includes(uri[at]!)) longest = 0;
      else if (!longest && fits[at + 1]) longest = at + 1;
      end[at] = longest;
    }
    for (let at = 0; at + literal.length < uri.length; at++) {
      if (end[at + literal.length] && uri.startsWith(literal, at)) before[at] = 1;
    }
    fits = before;
  }
  if (!fits[0]) return undefined;
  const values: string[] = [];
  let at = 0;
  for (let part = 0; part < count; part++) {
    const from = at + literals[part]!.length;
    at = ends[part]![from]!;
    values.push(uri.slice(from, at));
  }
  return values;
}

/** Whether a value has a segment that leads upwards. */
function climbs(value: string): boolean {
  return value.split(/[/\\]/).includes("..");
}
