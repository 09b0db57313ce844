// run, as its README shows it: each program in a fresh context, inside a worker thread that is used again. There is no
// session that lives on. A continuation is a record of calls, with which the program runs again from its start; it is made by
// the run that it interrupts, so what is measured of a save is its size.

import { createRunner, getHostFunctionContext } from 'run';
import { Absent, CALLS, CALLS_IN_SEQUENCE, expect, expectObjects, now, rows, serve, since, SUM_OF_CALLS } from './protocol.mjs';

const ask = (question) => {
  const { interrupt, resume } = getHostFunctionContext();
  if (resume === undefined) interrupt(question);
  return resume.resolution;
};
const hostFunctions = { tools: { ask, next: async ({ i }) => i } };
const runner = createRunner({ continuationSecret: 'a secret of more than 32 bytes, for the benchmark' });

async function value(source, limits = {}) {
  const result = await runner.run({ source, hostFunctions, limits });
  return result.value;
}

async function fresh() {
  const began = now();
  const two = await value('return 1+1;');
  const seconds = since(began);
  expect(two, 2);
  return seconds;
}

async function calls() {
  const began = now();
  const sum = await value(CALLS_IN_SEQUENCE.replace('next(', 'tools.next('), { maxBridgeRequests: CALLS });
  const seconds = since(began);
  expect(sum, SUM_OF_CALLS);
  return seconds;
}

async function objects() {
  const began = now();
  const list = await value(`return ${rows(10_000)};`);
  const seconds = since(began);
  expectObjects(list);
  return seconds;
}

const sources = {
  small: `return await tools.ask({ question: 'go on?' });`,
  rows: `
    const rows = ${rows(1_000)};
    const answer = await tools.ask({ question: 'go on?' });
    return rows.length === 1000 ? answer : 'wrong';`,
};

async function save(name) {
  const began = now();
  const { continuation } = await runner.run({ source: sources[name], hostFunctions });
  return { seconds: since(began), bytes: continuation.length };
}

async function restore(name) {
  const source = sources[name];
  const { continuation, interruptions } = await runner.run({ source, hostFunctions });
  const resolutions = interruptions.map(({ id }) => ({ interruptionId: id, value: 42 }));
  const began = now();
  const result = await runner.run({ source, hostFunctions, continuation, resolutions });
  const seconds = since(began);
  expect(result.value, 42);
  return seconds;
}

async function program({ source, patience }) {
  const began = now();
  let text = null;
  try {
    const [, ...body] = source.trimEnd().match(/^([^]*\n)?(\S[^\n]*)$/);
    text = await value(`${body[0]}return ${body[1]}`, { timeoutMs: patience * 1_000 });
  } catch (error) {
    if (error.code !== 'RUN_TIMEOUT') throw error;
  }
  return { seconds: since(began), value: text };
}

function noSession() {
  throw new Absent('no session that lives on');
}

await serve({
  fresh,
  no_op: noSession,
  calls,
  objects,
  save_small: () => save('small'),
  restore_small: () => restore('small'),
  save_rows: () => save('rows'),
  restore_rows: () => restore('rows'),
  live: noSession,
  program,
});
