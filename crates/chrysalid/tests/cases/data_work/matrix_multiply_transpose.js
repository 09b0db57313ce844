const A = [[1, 2, 3], [4, 5, 6]], B = [[7, 8], [9, 10], [11, 12]];
const transpose = m => m[0].map((_, c) => m.map(r => r[c]));
const multiply = (a, b) => a.map(row => transpose(b).map(col => row.reduce((s, x, i) => s + x * col[i], 0)));
const identity = n => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => +(i === j)));
//=
({ product: multiply(A, B), t: transpose(A), same: multiply(A, identity(3)) })
