import { readFileSync } from 'node:fs';
import { QuickJS } from 'quickjs-wasi';

const wasm = readFileSync(new URL(import.meta.resolve('quickjs-wasi/quickjs.wasm')));
const vm = await QuickJS.create({ wasm });
console.log(vm.evalCode('1+1').toNumber());
