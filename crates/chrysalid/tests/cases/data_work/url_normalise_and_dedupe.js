const urls = ['HTTP://Example.com:80/a/../b?z=1&a=2', 'http://example.com/b?a=2&z=1&utm_source=mail', 'http://example.com/b?a=2&z=1#frag'];
const normalise = text => {
  const u = new URL(text);
  u.hash = '';
  for (const key of [...u.searchParams.keys()]) if (key.startsWith('utm_')) u.searchParams.delete(key);
  u.searchParams.sort();
  return u.href;
};
//=
[...new Set(urls.map(normalise))]
