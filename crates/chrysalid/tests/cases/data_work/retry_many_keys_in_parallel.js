const retry = (fn, n) => fn().catch(e => (n > 1 ? retry(fn, n - 1) : Promise.reject(e)));
const keys = ['a', 'b', 'c', 'd'];
const out = await Promise.allSettled(keys.map((key, i) => retry(() => tools.flaky({ key }), i + 1)));
//=
out.map((r, i) => [keys[i], r.status === 'fulfilled' ? r.value.attempt : r.reason.message])
