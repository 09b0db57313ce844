const text = '{"at":"2025-01-02T03:04:05.000Z","n":"12","list":["7",8],"x":null}';
const data = JSON.parse(text, (key, v) => {
  if (key === 'at') return new Date(v);
  if (typeof v === 'string' && /^\d+$/.test(v)) return Number(v);
  return v === null ? undefined : v;
});
//=
data
