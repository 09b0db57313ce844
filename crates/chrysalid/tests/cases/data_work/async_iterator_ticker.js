async function* ticker(n, ms) {
  for (let i = 0; i < n; i++) {
    await new Promise(resolve => setTimeout(resolve, ms));
    yield { tick: i };
  }
}
const seen = [];
for await (const { tick } of ticker(4, 10)) {
  if (tick === 3) break;
  seen.push(tick);
  console.log('tick', tick);
}
//=
seen
