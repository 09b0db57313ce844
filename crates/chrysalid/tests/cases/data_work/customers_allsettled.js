const results = await Promise.allSettled([2, 50, 7].map(id => tools.get_customer({ id })));
const report = results.map(r => (r.status === 'fulfilled' ? r.value.name : `failed: ${r.reason.message}`));
console.log(report.join('\n'));
//=
results.map(r => r.status)
