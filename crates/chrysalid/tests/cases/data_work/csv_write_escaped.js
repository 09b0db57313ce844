const rows = [
  { id: 1, name: 'Plain', note: 'ok' },
  { id: 2, name: 'Comma, Inc.', note: 'says "hello"' },
  { id: 3, name: 'Multi\nline', note: null },
];
const escape = value => {
  const s = value == null ? '' : String(value);
  return /[",\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s;
};
const header = Object.keys(rows[0]);
const csv = [header, ...rows.map(r => header.map(h => r[h]))].map(r => r.map(escape).join(',')).join('\r\n');
//=
csv
