// 200 numbers a round in the default order, which compares them as strings.
let seed = 1;
let sum = 0;
for (let round = 0; round < ROUNDS; round++) {
  const numbers = Array.from({ length: 200 }, () => (seed = (seed * 48_271) % 2_147_483_647));
  numbers.sort();
  sum += String(numbers[0]) < String(numbers[199]) ? 1 : 0;
}
sum === ROUNDS ? "as it should be" : sum;
