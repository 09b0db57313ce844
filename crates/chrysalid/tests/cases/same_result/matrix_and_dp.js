// value: 8,5,5,3 7
const mul = (a, b) => a.map(r => b[0].map((_, j) => r.reduce((s, x, k) => s + x * b[k][j], 0))); let m = [[1, 1], [1, 0]]; for (let i = 0; i < 4; i++) { m = mul(m, [[1, 1], [1, 0]]); if (i % 2) m[0][0] = await tools.gate({ q: m[0][0] }); }
const lcs = (a, b) => { const t = Array.from({ length: a.length + 1 }, () => new Int32Array(b.length + 1)); for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) t[i][j] = a[i - 1] === b[j - 1] ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1]); return t[a.length][b.length]; };
[m.flat().join(), lcs('chrysalid', await tools.gate({ q: 'crystalline' }))].join(' ');
