const [poem, todo] = await Promise.all(['poem.txt', 'todo.md'].map(name => tools.fetch_text({ name })));
const index = new Map();
poem.split('\n').forEach((line, n) => {
  for (const [word] of line.toLowerCase().matchAll(/\b[a-z]{5,}\b/g)) {
    if (!index.has(word)) index.set(word, new Set());
    index.get(word).add(n + 1);
  }
});
const repeated = [...index].filter(([, at]) => at.size > 1);
//=
({ repeated: new Map(repeated), words: index.size, todoLines: todo.split('\n').length })
