const { events } = await tools.list_events({ limit: 100 });
const times = events.map(e => e.at);
const gaps = times.slice(1).map((t, i) => (t - times[i]) / 1000);
const longest = Math.max(...gaps);
const minutes = Map.groupBy(times, t => Math.floor(t / 3.6e6));
//=
({ longest, at: new Date(times[gaps.indexOf(longest)]).toISOString(), perHour: Array.from(minutes.values(), v => v.length), monotonic: gaps.every(g => g > 0) })
