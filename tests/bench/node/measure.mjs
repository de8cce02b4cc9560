// Alternating rounds: every row runs once per round, so that a slow moment of the machine meets all of them.

const WARM_UP_CALLS = 2_000;

/** Seconds for `calls` awaited calls of `once`. */
async function time(once, calls) {
  const begin = process.hrtime.bigint();
  for (let number = 0; number < calls; number++) {
    const pending = once(number);
    if (pending !== undefined) await pending;
  }
  return Number(process.hrtime.bigint() - begin) / 1e9;
}

/** How many calls fill one round, found after the row is warm. */
async function callsFor(row, seconds) {
  const calls = Math.max(64, WARM_UP_CALLS / (row.weight ?? 1));
  await time(row.once, calls);
  const took = await time(row.once, calls);
  return Math.max(64, Math.round((calls * seconds) / took));
}

/**
 * Measures the rows in alternating rounds.
 * A row is `{ key, what, once(number), weight? }`; the answer adds `rounds`, in microseconds a call.
 */
export async function alternate(rows, { rounds, seconds }) {
  const counts = [];
  for (const row of rows) {
    await row.once(0);
    counts.push(await callsFor(row, seconds));
  }
  const measured = rows.map(({ key, what }) => ({ key, what, rounds: [] }));
  for (let round = 0; round < rounds; round++) {
    for (const [index, row] of rows.entries()) {
      const took = await time(row.once, counts[index]);
      measured[index].rounds.push((took * 1e6) / counts[index]);
    }
  }
  return measured;
}
