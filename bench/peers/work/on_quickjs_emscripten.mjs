// quickjs-emscripten, as its README shows it: one WebAssembly module for all, in which each sandbox is a runtime with a
// context. It has no snapshots.

import { getQuickJS, shouldInterruptAfterDeadline } from 'quickjs-emscripten';
import {
  Absent,
  CALLS_IN_SEQUENCE,
  expect,
  expectObjects,
  now,
  rows,
  serve,
  since,
  SUM_OF_CALLS,
} from './protocol.mjs';

const QuickJS = await getQuickJS();
const idle = QuickJS.newContext();
const live = [];

const number = (vm, source) => vm.unwrapResult(vm.evalCode(source)).consume((handle) => vm.getNumber(handle));

function fresh() {
  const began = now();
  const vm = QuickJS.newContext();
  const value = number(vm, '1+1');
  vm.dispose();
  const seconds = since(began);
  expect(value, 2);
  return seconds;
}

function no_op() {
  const began = now();
  const value = number(idle, '0');
  const seconds = since(began);
  expect(value, 0);
  return seconds;
}

async function calls() {
  const vm = QuickJS.newContext();
  vm.newFunction('next', (argument) => {
    const { i } = vm.dump(argument);
    const deferred = vm.newPromise();
    Promise.resolve(i).then((answer) => vm.newNumber(answer).consume((handle) => deferred.resolve(handle)));
    deferred.settled.then(vm.runtime.executePendingJobs);
    return deferred.handle;
  }).consume((next) => vm.setProp(vm.global, 'next', next));
  const began = now();
  const promise = vm.unwrapResult(vm.evalCode(`(async () => {${CALLS_IN_SEQUENCE}})()`));
  const settled = vm.resolvePromise(promise);
  vm.runtime.executePendingJobs();
  const value = vm.unwrapResult(await settled).consume((handle) => vm.getNumber(handle));
  const seconds = since(began);
  promise.dispose();
  vm.dispose();
  expect(value, SUM_OF_CALLS);
  return seconds;
}

function objects() {
  const vm = QuickJS.newContext();
  const began = now();
  const value = vm.unwrapResult(vm.evalCode(rows(10_000))).consume((handle) => vm.dump(handle));
  const seconds = since(began);
  vm.dispose();
  expectObjects(value);
  return seconds;
}

function saving() {
  throw new Absent('no snapshots');
}

function makeLive({ count }) {
  for (let made = 0; made < count; made++) {
    const vm = QuickJS.newContext();
    expect(number(vm, '1+1'), 2);
    live.push(vm);
  }
  return 0;
}

function program({ source, patience }) {
  const vm = QuickJS.newContext();
  vm.runtime.setInterruptHandler(shouldInterruptAfterDeadline(Date.now() + patience * 1_000));
  const began = now();
  const result = vm.evalCode(source);
  let value = null;
  if (result.error) {
    const error = result.error.consume((handle) => vm.dump(handle));
    if (!/interrupted/.test(error.message)) throw new Error(error.message);
  } else {
    value = result.value.consume((handle) => vm.getString(handle));
  }
  const seconds = since(began);
  vm.dispose();
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
