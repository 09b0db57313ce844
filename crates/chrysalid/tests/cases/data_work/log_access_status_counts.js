const log = await tools.fetch_text({ name: 'access.log' });
const re = /^(\S+) - (\S+) \[([^\]]+)\] "(\w+) (\S+) [^"]*" (\d{3}) (\d+) (\d+)ms$/;
const hits = log.trim().split('\n').map(l => re.exec(l)).filter(Boolean).map(([, ip, user, time, method, path, status, bytes, ms]) => ({ ip, user, time, method, path: path.split('?')[0], status: +status, bytes: +bytes, ms: +ms }));
const count = key => hits.reduce((m, h) => ({ ...m, [h[key]]: (m[h[key]] ?? 0) + 1 }), {});
const durations = hits.map(h => h.ms).sort((a, b) => a - b);
//=
({ status: count('status'), methods: count('method'), paths: count('path'), p90: durations[Math.ceil(0.9 * durations.length) - 1], bytes: hits.reduce((s, h) => s + h.bytes, 0) })
