const md = `
| name  | qty | price |
|:------|----:|:-----:|
| tea   |   3 | 4.50  |
| a \\| b |  12 | 0.99  |`;
const lines = md.trim().split('\n');
const cells = line => line.replace(/^\||\|\s*$/g, '').split(/(?<!\\)\|/).map(c => c.trim().replace('\\|', '|'));
const [head, rule, ...body] = lines.map(cells);
const align = rule.map(r => (/^:-+:$/.test(r) ? 'center' : r.endsWith(':') ? 'right' : 'left'));
//=
({ align, rows: body.map(r => Object.fromEntries(head.map((h, i) => [h, r[i]]))) })
