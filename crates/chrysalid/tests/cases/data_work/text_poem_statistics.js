const poem = await tools.fetch_text({ name: 'poem.txt' });
const stanzas = poem.trim().split(/\n{2,}/).map(s => s.split('\n'));
const words = poem.toLowerCase().match(/[a-z']+/g);
const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
const rhymes = stanzas[0].map(l => l.replace(/[^a-z]/gi, '').slice(-3));
const initial = [...poem.matchAll(/^./gm)].map(([c]) => c).join('');
//=
({ stanzas: stanzas.map(s => s.length), words: words.length, unique: new Set(words).size, longest, rhymes, initial })
