const ini = await tools.fetch_text({ name: 'settings.ini' });
const config = {};
let section = config;
for (const raw of ini.split('\n')) {
  const line = raw.trim();
  if (!line || line.startsWith(';') || line.startsWith('#')) continue;
  const header = line.match(/^\[(.+)\]$/);
  if (header) { section = config[header[1]] = {}; continue; }
  const at = line.indexOf('=');
  const path = line.slice(0, at).trim().split('.');
  let value = line.slice(at + 1).trim();
  if (/^".*"$/.test(value)) value = value.slice(1, -1);
  else if (value === 'true' || value === 'false') value = value === 'true';
  else if (/^\d+$/.test(value)) value = parseInt(value);
  const key = path.pop();
  path.reduce((o, p) => (o[p] ??= {}), section)[key] = value;
}
//=
config
