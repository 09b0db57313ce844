const params = new URLSearchParams({ q: 'a&b=c', lang: 'de' });
params.append('tag', 'ü');
params.append('tag', 'x y');
params.set('page', 3);
params.delete('lang');
const url = new URL('/search', 'https://example.com/ignored?x=1');
url.search = params.toString();
url.hash = 'results';
console.log(url.href);
//=
[String(params), [...params], url.toString()]
