const text = 'Price: €12.50 (was €15.00), code AB-123; price: $9';
const amounts = [...text.matchAll(/(?<cur>[€$])(?<num>\d+(?:\.\d+)?)/gu)].map(({ groups: { cur, num }, index }) => ({ cur, num: +num, index }));
const before = text.match(/(?<=was €)[\d.]+/)?.[0];
const sticky = /\w+/y;
sticky.lastIndex = 7;
const date = '2025-03-09'.replace(/(?<y>\d+)-(?<m>\d+)-(?<d>\d+)/, '$<d>/$<m>/$<y>');
//=
({ amounts, before, sticky: sticky.exec(text)?.[0] ?? null, date, ci: text.split(/price/i).length, upper: text.replace(/\b[a-z]/g, c => c.toUpperCase()), indices: /c(o)d/d.exec(text).indices[1], re: /a\/b/gi })
