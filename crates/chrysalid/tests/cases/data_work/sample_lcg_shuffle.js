let seed = 42;
const random = () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32;
const shuffle = xs => {
  const a = [...xs];
  for (let i = a.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [a[i], a[j]] = [a[j], a[i]];
  }
  return a;
};
const cards = shuffle(Array.from({ length: 10 }, (_, i) => i + 1));
//=
({ cards, sorted: cards.toSorted((a, b) => a - b).join() })
