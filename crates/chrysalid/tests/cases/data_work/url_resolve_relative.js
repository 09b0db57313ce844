const base = 'https://example.com/docs/guide/intro.html?v=1#s';
const links = ['next.html', '../api/', '/root', '?v=2', '#end', '//cdn.example.com/x.js', 'mailto:a@b.c', './a/./b/../c'];
const ok = s => { try { new URL(s); return true; } catch (e) { return e.name; } };
//=
[links.map(l => new URL(l, base).href), ok('next.html'), ok('https://x')]
