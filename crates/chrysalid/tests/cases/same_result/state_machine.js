// value: idle>running>paused>running>idle pause in idle
const machine = { idle: { start: 'running' }, running: { pause: 'paused', stop: 'idle' }, paused: { resume: 'running', stop: 'idle' } };
let state = 'idle'; const path = [state]; const send = async e => { const next = machine[state][await tools.gate({ q: e })]; if (!next) throw new Error(`${e} in ${state}`); path.push(state = next); };
for (const e of ['start', 'pause', 'resume', 'stop']) await send(e);
let bad; try { await send('pause'); } catch (e) { bad = e.message; }
[path.join('>'), bad].join(' ');
