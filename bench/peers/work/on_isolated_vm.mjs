// isolated-vm, as its README shows it: an isolate of V8 for each sandbox, with V8's compilers. It has no snapshots of what a
// program does.

import ivm from 'isolated-vm';
import { Absent, CALLS_IN_SEQUENCE, expect, expectObjects, now, rows, serve, since, SUM_OF_CALLS } from './protocol.mjs';

const idle = new ivm.Isolate().createContextSync();
const live = [];

function fresh() {
  const began = now();
  const isolate = new ivm.Isolate();
  const context = isolate.createContextSync();
  const value = context.evalSync('1+1');
  isolate.dispose();
  const seconds = since(began);
  expect(value, 2);
  return seconds;
}

function no_op() {
  const began = now();
  const value = idle.evalSync('0');
  const seconds = since(began);
  expect(value, 0);
  return seconds;
}

async function calls() {
  const isolate = new ivm.Isolate();
  const context = isolate.createContextSync();
  context.global.setSync('reference', new ivm.Reference(async ({ i }) => i));
  context.evalSync(`
    const options = { arguments: { copy: true }, result: { promise: true, copy: true } };
    globalThis.next = (argument) => reference.apply(undefined, [argument], options);`);
  const began = now();
  const value = await context.eval(`(async () => {${CALLS_IN_SEQUENCE}})()`, { promise: true, copy: true });
  const seconds = since(began);
  isolate.dispose();
  expect(value, SUM_OF_CALLS);
  return seconds;
}

function objects() {
  const isolate = new ivm.Isolate();
  const context = isolate.createContextSync();
  const began = now();
  const value = context.evalSync(rows(10_000), { copy: true });
  const seconds = since(began);
  isolate.dispose();
  expectObjects(value);
  return seconds;
}

function saving() {
  throw new Absent('no snapshots of what runs');
}

function makeLive({ count }) {
  for (let made = 0; made < count; made++) {
    const isolate = new ivm.Isolate();
    const context = isolate.createContextSync();
    expect(context.evalSync('1+1'), 2);
    live.push(context);
  }
  return 0;
}

function program({ source, patience }) {
  const isolate = new ivm.Isolate();
  const context = isolate.createContextSync();
  const began = now();
  const value = context.evalSync(source, { timeout: patience * 1_000 });
  const seconds = since(began);
  isolate.dispose();
  return { seconds, value };
}

await serve({
  fresh,
  no_op,
  calls,
  objects,
  save_small: saving,
  restore_small: saving,
  save_rows: saving,
  restore_rows: saving,
  live: makeLive,
  program,
});
