const isPlain = v => Object.prototype.toString.call(v) === '[object Object]';
const merge = (a, b) => {
  const out = { ...a };
  for (const [k, v] of Object.entries(b)) out[k] = isPlain(v) && isPlain(out[k]) ? merge(out[k], v) : v;
  return out;
};
const defaults = { retries: 3, log: { level: 'info', targets: ['stdout'] }, cache: { ttl: 60 } };
const override = { log: { level: 'debug', targets: ['file'] }, cache: null, extra: true };
//=
merge(defaults, override)
