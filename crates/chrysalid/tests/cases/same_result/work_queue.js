// value: b3,b8,b1,a5
const queue = [5, 3, 8, 1]; const done = [];
const worker = async name => { while (queue.length) { const job = queue.shift(); const r = await tools.gate({ q: job }); done.push(name + r); } };
await Promise.all(['a', 'b'].map(worker)); done.join();
