const lines = [
  '2025-03-01T10:00:00Z [INFO] api: started in 120ms',
  '2025-03-01T10:00:05Z [ERROR] db: connection refused',
  'garbage',
  '2025-03-01T10:00:09Z [WARN] api: slow (900ms)',
];
const pattern = /^(?<time>\S+) \[(?<level>\w+)\] (?<source>\w+): (?<message>.*)$/;
const parsed = lines.map(l => l.match(pattern)?.groups).filter(Boolean);
const ms = parsed.flatMap(p => [...p.message.matchAll(/(\d+)ms/g)].map(m => Number(m[1])));
//=
({ levels: parsed.map(p => p.level), sources: [...new Set(parsed.map(p => p.source))], ms, first: { ...parsed[0] } })
