const text = 'Tea for two, and two for tea. TEA!';
const re = /tea/gi;
const hits = [];
let m;
while ((m = re.exec(text)) !== null) hits.push({ at: m.index, found: m[0], next: re.lastIndex });
//=
({ hits, marked: text.replace(re, '[$&]'), around: text.replace(/(\w+), and (\w+)/, '$2, or $1') })
