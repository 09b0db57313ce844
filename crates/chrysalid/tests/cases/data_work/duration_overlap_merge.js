const meetings = [[540, 600], [590, 660], [720, 780], [600, 610], [775, 800]];
const merged = meetings
  .sort((a, b) => a[0] - b[0])
  .reduce((out, [s, e]) => {
    const last = out[out.length - 1];
    if (last && s <= last[1]) last[1] = Math.max(last[1], e);
    else out.push([s, e]);
    return out;
  }, []);
const clock = m => `${String(m / 60 | 0).padStart(2, '0')}:${String(m % 60).padStart(2, '0')}`;
//=
merged.map(r => r.map(clock).join('-'))
