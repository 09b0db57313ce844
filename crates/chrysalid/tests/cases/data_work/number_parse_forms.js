const inputs = ['42', ' 3.5 ', '0x1f', '0b101', '1e3', '', 'abc', '12px', '1_000', '-Infinity', '.5', '5.'];
const table = new Map();
for (const s of inputs) {
  table.set(s, { number: Number(s), float: parseFloat(s), int: parseInt(s), usable: s.trim() !== '' && !Number.isNaN(Number(s)) });
}
//=
table
