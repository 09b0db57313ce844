const lines = (await tools.fetch_text({ name: 'jobs.ndjson' })).split('\n');
const started = {}, durations = {};
let skipped = 0;
for (const line of lines) {
  if (line === '') continue;
  let event;
  try { event = JSON.parse(line); } catch { skipped++; continue; }
  const { ts, kind, job } = event;
  switch (kind) {
    case 'start': started[job] = ts; break;
    case 'stop': durations[job] = ts - started[job]; delete started[job]; break;
    default: throw new Error(`unknown kind ${kind}`);
  }
}
//=
({ durations, running: Object.keys(started), skipped, mean: Object.values(durations).reduce((a, b) => a + b) / Object.keys(durations).length })
