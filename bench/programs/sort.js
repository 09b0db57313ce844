// 100,000 numbers in the default order, which compares them as strings.
let seed = 1;
const numbers = Array.from({ length: 100_000 }, () => (seed = (seed * 48_271) % 2_147_483_647));
numbers.sort();
`${numbers[0]} ${numbers[50_000]} ${numbers[99_999]}`;
