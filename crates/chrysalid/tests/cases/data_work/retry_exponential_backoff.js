const sleep = ms => new Promise(r => setTimeout(r, ms));
const waits = [];
async function withBackoff(fn, { attempts = 4, base = 50, factor = 2 } = {}) {
  for (let n = 0; ; n++) {
    try {
      return await fn();
    } catch (err) {
      if (n + 1 >= attempts || !err.retryable) throw err;
      const wait = base * factor ** n;
      waits.push(wait);
      await sleep(wait);
    }
  }
}
const value = await withBackoff(() => tools.flaky({ key: 'beta' }));
return [value, waits];
