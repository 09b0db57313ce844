var late = [];
for (var i = 0; i < 3; i++) late.push(() => i);
const each = [];
for (let j = 0; j < 3; j++) each.push(() => j);
//=
[late.map(f => f()), each.map(f => f())]
