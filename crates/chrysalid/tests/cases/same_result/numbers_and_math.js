// value: 0.1,1e+21,-0,NaN,Infinity,9007199254740992 0.300 ff 12 7 5 5 1234.57 9007199254740991 2 -2 0.5 -7 3 -Infinity
const xs = []; for (const n of [0.1, 1e21, -0, NaN, Infinity, 2 ** 53]) xs.push(await tools.gate({ q: n }));
[xs.map(x => Object.is(x, -0) ? '-0' : String(x)).join(), (0.1 + 0.2).toFixed(3), (255).toString(16), parseInt('12px'), Number(' 7 '), Math.max(...[1, 5, 3]), Math.hypot(3, 4), (1234.5678).toPrecision(6), Number.MAX_SAFE_INTEGER, 5 % -3, -5 % 3, 2 ** -1, ~~-7.9, 7 >>> 1, 1 / xs[2]].join(' ');
