const ids = Array.from({ length: 8 }, (_, i) => i + 1);
const names = [];
for (let i = 0; i < ids.length; i += 3) {
  const batch = await Promise.all(ids.slice(i, i + 3).map(id => tools.get_customer({ id })));
  console.log(`batch of ${batch.length}`);
  names.push(...batch.map(c => c.name.split(' ').at(-1)));
}
//=
names
