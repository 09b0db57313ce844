const factorial = n => (n <= 1n ? 1n : n * factorial(n - 1n));
const fifty = factorial(50n);
const digits = [...String(fifty)].map(Number);
//=
({ fifty, digitSum: digits.reduce((a, b) => a + b), zeros: /0+$/.exec(String(fifty))[0].length, mod: fifty % 1000007n })
