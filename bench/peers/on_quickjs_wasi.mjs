// One attack on quickjs-wasi: a process as bench/src/attacks/subject.rs describes it.
//
// Used as its README shows: `memoryLimit`, an `interruptHandler` with a deadline, `evalCode` with `EvalFlags.ASYNC`,
// `executePendingJobs`, `resolvePromise`, a host function that gives a promise, `dump` for the value.

import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { EvalFlags, QuickJS } from 'quickjs-wasi';

const MEMORY = 64 << 20;
const TIME = 500;

function resident(field) {
  const line = readFileSync('/proc/self/status', 'utf8').split('\n').find((one) => one.startsWith(field));
  return Number(line.split(/\s+/)[1]) * 1024;
}

const say = (line) => writeSync(1, `@${JSON.stringify(line)}\n`);

const source = readFileSync(0, 'utf8');
let deadline = Infinity;
let failed = null;
const vm = await QuickJS.create({
  wasm: readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm'))),
  memoryLimit: MEMORY,
  interruptHandler: () => Date.now() > deadline,
});
vm.newFunction('tool', (argument) => {
  if (argument !== undefined) vm.dump(argument);
  const deferred = vm.newPromise();
  Promise.resolve().then(() => {
    try {
      deferred.resolve(vm.newNumber(1));
      vm.executePendingJobs();
    } catch (error) {
      failed = error;
    }
  });
  return deferred.handle;
}).consume((tool) => vm.setProp(vm.global, 'tool', tool));

/** What a program comes to; one that still waits at its deadline is over its time. */
async function run(text, time = TIME) {
  deadline = Date.now() + time;
  failed = null;
  try {
    const promise = vm.evalCode(text, 'program.js', EvalFlags.ASYNC);
    vm.executePendingJobs();
    const settled = vm.resolvePromise(promise);
    const idle = new Promise((resolve) => {
      const waits = () => promise.promiseState === 0 && failed === null && Date.now() <= deadline;
      const look = () => (waits() ? setImmediate(look) : resolve(null));
      setImmediate(look);
    });
    const result = (await Promise.race([settled, idle])) ?? (promise.promiseState === 0 ? null : await settled);
    if (failed !== null) return failure(failed);
    if (result === null) return { how: 'timeout', text: 'still pending at the deadline' };
    if ('error' in result) return failure(vm.dump(result.error));
    const value = vm.dump(result.value.getProp('value'));
    return { how: 'value', value, text: typeof value === 'string' ? value.slice(0, 100) : '' };
  } catch (error) {
    return failure(error);
  }
}

function failure(error) {
  const text = `${error?.name}: ${error?.message ?? error}`.slice(0, 100);
  if (/is not defined/.test(text)) return { how: 'absent', text };
  if (/interrupted/.test(text)) return { how: 'timeout', text };
  if (/out of memory/.test(text)) return { how: 'out_of_memory', text };
  if (error instanceof WebAssembly.RuntimeError) return { how: 'trap', text };
  return { how: 'exception', text };
}

const before = await run('globalThis.kept = { n: 41 }; kept.n', 60_000);
if (before.value !== 41) throw new Error(`the VM does not work before the attack: ${JSON.stringify(before)}`);
say({ idle: resident('VmRSS:') });
writeFileSync('/proc/self/clear_refs', '5');

const began = process.hrtime.bigint();
const cpu = process.cpuUsage();
const { how, text } = await run(source);
const wall = Number(process.hrtime.bigint() - began) / 1e9;
const used = process.cpuUsage(cpu);
say({ outcome: how, text, cpu: (used.user + used.system) / 1e6, wall, peak: resident('VmHWM:') });

async function after(text, wanted) {
  const { how, value } = await run(text);
  return how !== 'value' ? how : value === wanted ? 'yes' : 'wrong';
}

const lives = await after('1 + 1', 2);
say({ lives, kept: await after('kept.n', 41) });
process.exit(0);
