function distance(a, b) {
  let prev = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(prev[j] + 1, row[j - 1] + 1, prev[j - 1] + (a[i - 1] !== b[j - 1]));
    }
    prev = row;
  }
  return prev[b.length];
}
const words = ['kitten', 'sitting', 'mitten', 'smitten', ''];
//=
words.map(w => [w, distance('kitten', w)])
