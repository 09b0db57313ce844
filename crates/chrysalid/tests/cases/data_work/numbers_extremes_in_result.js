const values = {
  nan: 0 / 0, inf: 1 / 0, ninf: -1 / 0, zero: -0,
  tiny: Number.MIN_VALUE, eps: Number.EPSILON, safe: Number.MAX_SAFE_INTEGER, over: 2 ** 53, huge: 2n ** 80n,
};
console.log(Object.values(values).map(v => `${v}`).join(' '));
//=
values
