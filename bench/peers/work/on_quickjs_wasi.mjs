// quickjs-wasi, as its README shows it: the module compiled once, a VM for each sandbox, host functions that give promises,
// snapshots with a promise whose `resolve` the program keeps, serialised for storage.

import { readFileSync } from 'node:fs';
import { EvalFlags, QuickJS } from 'quickjs-wasi';
import {
  CALLS_IN_SEQUENCE,
  expect,
  expectObjects,
  now,
  rows,
  serve,
  since,
  SUM_OF_CALLS,
  zipped,
} from './protocol.mjs';

const wasm = await WebAssembly.compile(readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))));
const idle = await QuickJS.create({ wasm });
const live = [];

async function fresh() {
  const began = now();
  const vm = await QuickJS.create({ wasm });
  const value = vm.evalCode('1+1').consume((handle) => handle.toNumber());
  vm.dispose();
  const seconds = since(began);
  expect(value, 2);
  return seconds;
}

function no_op() {
  const began = now();
  const value = idle.evalCode('0').consume((handle) => handle.toNumber());
  const seconds = since(began);
  expect(value, 0);
  return seconds;
}

async function calls() {
  const vm = await QuickJS.create({ wasm });
  vm.newFunction('next', (argument) => {
    const { i } = vm.dump(argument);
    const deferred = vm.newPromise();
    Promise.resolve(i).then((answer) => {
      deferred.resolve(vm.newNumber(answer));
      vm.executePendingJobs();
    });
    return deferred.handle;
  }).consume((next) => vm.setProp(vm.global, 'next', next));
  const began = now();
  const promise = vm.evalCode(`(async () => {${CALLS_IN_SEQUENCE}})()`);
  vm.executePendingJobs();
  const result = await vm.resolvePromise(promise);
  const value = result.value.toNumber();
  const seconds = since(began);
  vm.dispose();
  expect(value, SUM_OF_CALLS);
  return seconds;
}

async function objects() {
  const vm = await QuickJS.create({ wasm });
  const began = now();
  const value = vm.evalCode(rows(10_000)).consume((handle) => vm.dump(handle));
  const seconds = since(began);
  vm.dispose();
  expectObjects(value);
  return seconds;
}

const PRELUDE = 'globalThis.ask = () => new Promise((resolve) => { globalThis.answer = resolve; });';

async function paused(source) {
  const vm = await QuickJS.create({ wasm });
  vm.evalCode(PRELUDE).dispose();
  vm.evalCode(`(async () => { globalThis.result = await (async () => {${source}})(); })()`).dispose();
  vm.executePendingJobs();
  return vm;
}

const waiting = {
  small: await paused(`return await ask({ question: 'go on?' });`),
  rows: await paused(`
    const rows = ${rows(1_000)};
    const answer = await ask({ question: 'go on?' });
    return rows.length === 1000 ? answer : 'wrong';`),
};
const saved = Object.fromEntries(
  Object.entries(waiting).map(([name, vm]) => [name, QuickJS.serializeSnapshot(vm.snapshot())]),
);

function save(name) {
  const began = now();
  const bytes = QuickJS.serializeSnapshot(waiting[name].snapshot());
  return { seconds: since(began), bytes: bytes.length, ...zipped(bytes) };
}

async function restore(name) {
  const began = now();
  const vm = await QuickJS.restore(QuickJS.deserializeSnapshot(saved[name]), wasm);
  const [answer, argument] = [vm.global.getProp('answer'), vm.newNumber(42)];
  vm.callFunction(answer, vm.undefined, argument).dispose();
  vm.executePendingJobs();
  const value = vm.global.getProp('result').consume((handle) => handle.toNumber());
  const seconds = since(began);
  answer.dispose();
  argument.dispose();
  vm.dispose();
  expect(value, 42);
  return seconds;
}

async function makeLive({ count }) {
  for (let made = 0; made < count; made++) {
    const vm = await QuickJS.create({ wasm });
    expect(vm.evalCode('1+1').consume((handle) => handle.toNumber()), 2);
    live.push(vm);
  }
  return 0;
}

async function program({ source, patience }) {
  let deadline = Infinity;
  const vm = await QuickJS.create({ wasm, interruptHandler: () => Date.now() > deadline });
  deadline = Date.now() + patience * 1_000;
  const began = now();
  let value = null;
  try {
    value = vm.evalCode(source).consume((handle) => handle.toString());
  } catch (error) {
    if (!/interrupted/.test(error.message)) throw error;
  }
  const seconds = since(began);
  deadline = Infinity;
  vm.dispose();
  return { seconds, value };
}

await serve({
  fresh,
  no_op,
  calls,
  objects,
  save_small: () => save('small'),
  restore_small: () => restore('small'),
  save_rows: () => save('rows'),
  restore_rows: () => restore('rows'),
  live: makeLive,
  program,
});
