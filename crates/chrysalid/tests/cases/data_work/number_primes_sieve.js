const N = 60;
const composite = new Uint8Array(N + 1);
const primes = [];
outer: for (let i = 2; i <= N; i++) {
  if (composite[i]) continue outer;
  primes.push(i);
  for (let j = i * i; j <= N; j += i) composite[j] = 1;
}
const gaps = primes.slice(1).map((p, i) => p - primes[i]);
//=
[primes, Math.max(...gaps)]
