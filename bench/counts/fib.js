// 465 calls of a function a round.
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
let sum = 0;
for (let round = 0; round < ROUNDS; round++) sum += fib(12);
sum === ROUNDS * 144 ? "as it should be" : sum;
