const jobs = { ok: tools.slow({ ms: 50, v: 1 }), bad: tools.slowFail({ ms: 30 }), plain: 42, late: tools.slow({ ms: 500, v: [1, 2] }) };
const settled = await Promise.allSettled(Object.values(jobs));
//=
Object.fromEntries(Object.keys(jobs).map((k, i) => [k, settled[i].value ?? settled[i].reason.message]))
