// value: ship failed ok reserve,charge,refund,release,reserve,charge,ship
const steps = [['reserve', 'release'], ['charge', 'refund'], ['ship', 'recall']]; const done = [];
async function saga(failAt) { const undo = []; try { for (const [does, undoes] of steps) { await tools.gate({ q: does }); if (does === failAt) throw new Error(does + ' failed'); done.push(does); undo.push(undoes); } return 'ok'; } catch (e) { for (const u of undo.reverse()) { done.push(await tools.gate({ q: u })); } return e.message; } }
[await saga('ship'), await saga(), done.join()].join(' ');
