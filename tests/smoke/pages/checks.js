// What the scripts of this page share.

/** The public names of a class: those of its instances, and its static functions. */
export function namesOf(type) {
  const names = Object.getOwnPropertyNames(type).filter((name) => typeof type[name] === "function");
  for (let part = type.prototype; part && part !== Object.prototype; part = Object.getPrototypeOf(part)) {
    names.push(...Object.getOwnPropertyNames(part));
  }
  return [...new Set(names)].filter((name) => name !== "constructor");
}

/** The same object; what is read of it is noted in `used`. */
export function watched(object, used) {
  return new Proxy(object, {
    get(target, name) {
      used.add(name);
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Throws `what` unless `truth` holds. */
export function must(truth, what) {
  if (!truth) throw new Error(what);
}

/** Throws unless `list` is an array with something in it. */
export function nonEmpty(list, what) {
  must(Array.isArray(list) && list.length > 0, `${what} is empty`);
}
