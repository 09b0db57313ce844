// One side of `cargo xtask bench --peers`: a process that does work when it is asked, as bench/src/beside/side.rs describes it.
//
// Each work does it once and gives the seconds that it took, alone or with what else is to be said; what has to be made
// ready beforehand stands outside of the measured time.

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { constants, gzipSync } from 'node:zlib';

export const rows = (count) => `Array.from({ length: ${count} }, (_, id) => ({ id, name: \`row \${id}\`, done: false }))`;

export const CALLS = 1_000;

export const SUM_OF_CALLS = (CALLS * (CALLS - 1)) / 2;

/** The body of an async function. */
export const CALLS_IN_SEQUENCE = `
let sum = 0;
for (let i = 0; i < ${CALLS}; i++) sum += await next({ i });
return sum;`;

/** A peer cannot do this; the text says why. */
export class Absent extends Error {}

export function expect(value, wanted) {
  if (value !== wanted) throw new Error(`${value}, not ${wanted}`);
}

export function expectObjects(value) {
  expect(value.length, 10_000);
  expect(JSON.stringify(value[9_999]), '{"id":9999,"name":"row 9999","done":false}');
}

export const now = () => process.hrtime.bigint();

export const since = (began) => Number(process.hrtime.bigint() - began) / 1e9;

/** What a saved form comes to with gzip at its fastest level, for peers that leave that to their user. */
export function zipped(bytes) {
  const began = now();
  const small = gzipSync(bytes, { level: constants.Z_BEST_SPEED });
  return { zip_seconds: since(began), zipped_bytes: small.length };
}

const say = (line) => writeSync(1, `${JSON.stringify(line)}\n`);

export async function serve(works) {
  say({ ready: Object.keys(works).sort() });
  for await (const line of createInterface({ input: process.stdin })) {
    const { work, repeat, ...options } = JSON.parse(line);
    try {
      const answer = { samples: [] };
      for (let turn = 0; turn < repeat; turn++) {
        const result = await works[work](options);
        const { seconds, ...more } = typeof result === 'number' ? { seconds: result } : result;
        answer.samples.push(seconds);
        Object.assign(answer, more);
      }
      say(answer);
    } catch (error) {
      say(error instanceof Absent ? { absent: error.message } : { error: String(error?.message ?? error) });
    }
  }
  process.exit(0);
}
