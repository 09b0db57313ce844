const numbers = [10, 9, 2, 33, 1, undefined, -5];
const textual = [...numbers].sort();
const numeric = [...numbers].sort((a, b) => a - b);
console.log(textual.join(' '), '|', numeric.join(' '));
//=
[textual, numeric]
