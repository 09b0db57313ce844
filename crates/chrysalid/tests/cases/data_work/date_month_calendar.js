const year = 2025, month = 1; // February
const first = new Date(Date.UTC(year, month, 1));
const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
const offset = (first.getUTCDay() + 6) % 7;
const cells = [...Array(offset).fill('  '), ...Array.from({ length }, (_, i) => String(i + 1).padStart(2))];
const weeks = [];
while (cells.length) weeks.push(cells.splice(0, 7).join(' '));
console.log('Mo Tu We Th Fr Sa Su');
for (const w of weeks) console.log(w);
//=
weeks.length
