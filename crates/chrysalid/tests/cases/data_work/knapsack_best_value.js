const items = [['tent', 7, 16], ['stove', 3, 9], ['food', 5, 14], ['book', 1, 2], ['rope', 2, 5]];
const cap = 10;
const best = Array.from({ length: cap + 1 }, () => ({ value: 0, picks: [] }));
for (const [name, w, v] of items)
  for (let c = cap; c >= w; c--) {
    const candidate = best[c - w].value + v;
    if (candidate > best[c].value) best[c] = { value: candidate, picks: [...best[c - w].picks, name] };
  }
//=
best.at(-1)
