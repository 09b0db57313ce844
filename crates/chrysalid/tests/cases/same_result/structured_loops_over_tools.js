// value: 2/t2/2 3/t3/3
const rows = []; for (const id of [3, 1, 2]) { const row = await tools.echo({ v: { id, tags: new Set(['t' + id]), when: new Date(id) } }); if (await tools.gate({ q: id }) !== 1) rows.push(row); }
rows.sort((a, b) => a.id - b.id); await tools.note({ v: rows.length });
rows.map(r => [r.id, [...r.tags].join(), r.when.getTime()].join('/')).join(' ');
