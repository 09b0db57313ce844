const records = [
  { id: 'x1', v: 1, updated: '2025-01-02' },
  { id: 'x2', v: 5, updated: '2025-01-01' },
  { id: 'x1', v: 2, updated: '2025-02-01' },
  { id: 'x1', v: 3, updated: '2025-01-15' },
];
const latest = new Map();
for (const record of records) {
  const seen = latest.get(record.id);
  if (!seen || record.updated > seen.updated) latest.set(record.id, record);
}
//=
[...latest.values()]
