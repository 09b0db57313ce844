const text = `It was the best of times, it was the worst of times; it was the age of wisdom...`;
const words = text.toLowerCase().match(/\p{L}+/gu);
const freq = words.reduce((m, w) => m.set(w, (m.get(w) || 0) + 1), new Map());
const top = [...freq].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, 4);
//=
({ words: words.length, distinct: freq.size, top })
