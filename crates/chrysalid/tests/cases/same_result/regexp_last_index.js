// value: ab3,cd6 0 2 true 3 x,y,z 05/2024
const re = /(?<word>[a-z]+)(\d)?/giy, text = 'ab1cd2 ef3'; const seen = [];
let m; while ((m = re.exec(text))) { seen.push(m.groups.word + re.lastIndex); await tools.gate({ q: re.lastIndex }); }
const g = /o/g; g.test('foo'); await tools.gate({ q: g.lastIndex });
[seen.join(), re.lastIndex, g.lastIndex, g.test('foo'), g.lastIndex, 'x-y_z'.split(/[-_]/).join(), '2024-05'.replace(/(?<y>\d+)-(?<m>\d+)/, '$<m>/$<y>')].join(' ');
