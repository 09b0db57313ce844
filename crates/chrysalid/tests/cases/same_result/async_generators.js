// value: PAGE11,PAGE22,PAGE33
async function* pages(n) { for (let i = 1; i <= n; i++) { const page = await tools.gate({ q: 'page' + i }); yield { page, i }; } }
const got = [];
for await (const { page, i } of pages(4)) { got.push(page.toUpperCase() + i); if (i === 3) break; }
got.join();
