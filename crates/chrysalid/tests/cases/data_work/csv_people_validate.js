const text = await tools.fetch_text({ name: 'people.csv' });
const records = [];
let field = '', record = [], inQuotes = false;
for (const ch of text + '\n') {
  if (ch === '"') inQuotes = !inQuotes;
  else if (ch === ',' && !inQuotes) { record.push(field); field = ''; }
  else if (ch === '\n' && !inQuotes) { record.push(field); records.push(record); record = []; field = ''; }
  else field += ch;
}
const problems = [];
for (const [id, name, , joined, score] of records.slice(1)) {
  const valid = /^\d{4}-\d{2}-\d{2}$/.test(joined) && new Date(joined + 'T00:00:00Z').toISOString().startsWith(joined);
  if (!joined) problems.push(`${id}: no date`);
  else if (!valid) problems.push(`${id}: bad date ${joined}`);
  if (score === '') problems.push(`${id}: ${name.trim()} has no score`);
}
//=
problems
