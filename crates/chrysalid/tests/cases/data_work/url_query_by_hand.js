const parse = query => {
  const out = {};
  for (const pair of query.replace(/^\?/, '').split('&')) {
    if (!pair) continue;
    const [k, v = ''] = pair.split(/=(.*)/s).map(s => decodeURIComponent(s.replaceAll('+', ' ')));
    if (k.endsWith('[]')) (out[k.slice(0, -2)] ??= []).push(v);
    else out[k] = v;
  }
  return out;
};
const build = o => Object.entries(o).flatMap(([k, v]) => [v].flat().map(x => `${encodeURIComponent(k)}${Array.isArray(v) ? '[]' : ''}=${encodeURIComponent(x)}`)).join('&');
const parsed = parse('?name=Ana+P%C3%A9rez&ids[]=1&ids[]=2&flag&eq=a=b&');
//=
[parsed, build(parsed), encodeURI('https://x/ä b?c=d&e'), decodeURIComponent('%F0%9F%98%80')]
