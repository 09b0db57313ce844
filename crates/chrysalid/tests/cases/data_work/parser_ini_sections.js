const text = `; comment
name = demo
[paths]
root=/srv
"odd key" = a=b
[flags]
debug = true
level = 3`;
const coerce = v => (v === 'true' ? true : v === 'false' ? false : v !== '' && !isNaN(v) ? +v : v);
let section = null;
const config = Object.create(null);
for (const line of text.split(/\r?\n/)) {
  let m;
  if (!line.trim() || /^\s*[;#]/.test(line)) continue;
  if ((m = line.match(/^\[(.+)\]$/))) config[(section = m[1])] = {};
  else if ((m = line.match(/^\s*"?(.*?)"?\s*=\s*(.*)$/))) (section ? config[section] : config)[m[1]] = coerce(m[2]);
}
//=
config
