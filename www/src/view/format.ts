/** Times and sizes in words. */

/** A span of milliseconds: `84 ms`, `1.25 s`, `2 min 5 s`. */
export function span(milliseconds: number): string {
  if (milliseconds < 1) return "<1 ms";
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(2)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** A moment since the connection was asked for: `0.084`. */
export function moment(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(3);
}

/** A number of characters or bytes: `312 B`, `4.1 kB`. */
export function size(count: number): string {
  return count < 1000 ? `${count} B` : count < 1e6 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}
