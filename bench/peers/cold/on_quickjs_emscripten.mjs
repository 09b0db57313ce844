import { getQuickJS } from 'quickjs-emscripten';

const vm = (await getQuickJS()).newContext();
console.log(vm.getNumber(vm.unwrapResult(vm.evalCode('1+1'))));
