import ivm from 'isolated-vm';

console.log(new ivm.Isolate().createContextSync().evalSync('1+1'));
