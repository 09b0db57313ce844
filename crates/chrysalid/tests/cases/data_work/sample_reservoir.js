function rng(s) { return () => ((s = (s * 16807) % 2147483647) - 1) / 2147483646; }
const random = rng(7);
const k = 5, reservoir = [];
for (let i = 0; i < 1000; i++) {
  if (i < k) reservoir.push(i);
  else {
    const j = Math.floor(random() * (i + 1));
    if (j < k) reservoir[j] = i;
  }
}
//=
reservoir
