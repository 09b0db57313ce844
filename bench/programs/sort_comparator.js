// 100,000 numbers, compared by a function.
let seed = 1;
const numbers = Array.from({ length: 100_000 }, () => (seed = (seed * 48_271) % 2_147_483_647));
numbers.sort((a, b) => a - b);
`${numbers[0]} ${numbers[50_000]} ${numbers[99_999]}`;
