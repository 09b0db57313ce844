const a = 'one two three four five'.split(' ');
const b = 'one three 3.5 four six'.split(' ');
const L = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
for (let i = a.length - 1; i >= 0; i--)
  for (let j = b.length - 1; j >= 0; j--)
    L[i][j] = a[i] === b[j] ? L[i + 1][j + 1] + 1 : Math.max(L[i + 1][j], L[i][j + 1]);
const diff = [];
let i = 0, j = 0;
while (i < a.length || j < b.length) {
  if (i < a.length && j < b.length && a[i] === b[j]) { diff.push('  ' + a[i]); i++; j++; }
  else if (j >= b.length || (i < a.length && L[i + 1][j] >= L[i][j + 1])) diff.push('- ' + a[i++]);
  else diff.push('+ ' + b[j++]);
}
//=
diff
