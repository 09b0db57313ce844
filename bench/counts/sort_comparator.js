// 200 numbers a round, compared by a function.
let seed = 1;
let sum = 0;
for (let round = 0; round < ROUNDS; round++) {
  const numbers = Array.from({ length: 200 }, () => (seed = (seed * 48_271) % 2_147_483_647));
  numbers.sort((a, b) => a - b);
  sum += numbers[0] < numbers[199] ? 1 : 0;
}
sum === ROUNDS ? "as it should be" : sum;
