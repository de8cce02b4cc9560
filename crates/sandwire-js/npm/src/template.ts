/** @internal Reads the variables of a URI template from an address: `{name}` and `{+path}` are known. */
export function matcher(template: string): (uri: string) => { [name: string]: string } | undefined {
  const names: string[] = [];
  const pattern = template.split(/\{([^}]*)\}/).map((part, index) => {
    if (index % 2 === 0) return part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const [, reserved, name] = /^(\+?)(\w+)$/.exec(part) ?? [];
    if (!name || names.includes(name)) throw new TypeError(`the URI template ${template} has a part {${part}} that is not supported`);
    names.push(name);
    return reserved ? "(.+)" : "([^/?#]+)";
  });
  const regex = new RegExp(`^${pattern.join("")}$`);
  return (uri) => {
    const found = regex.exec(uri);
    if (!found) return undefined;
    try {
      return Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(found[index + 1]!)]));
    } catch {
      return undefined;
    }
  };
}
