const timeout = (ms, label) => new Promise((_, reject) => setTimeout(() => reject(new Error(`${label} timed out after ${ms}ms`)), ms));
const limited = (ms, promise) => Promise.race([promise, timeout(ms, 'slow')]);
const outcomes = [];
for (const ms of [40, 400]) {
  try { outcomes.push(await limited(100, tools.slow({ ms, v: `took ${ms}` }))); }
  catch (e) { outcomes.push(e); }
}
//=
outcomes
