const bad = new Date('not a date');
const list = [new Date(0), bad, new Date(8.64e15), new Date(8.64e15 + 1)];
console.log(list.map(d => isNaN(d)).join());
//=
list
