// value: m2,m4 HEY! 1 undefined
const map = Array.prototype.map; Array.prototype.map = function (f) { return map.call(this, (x, i) => 'm' + f(x, i)); }; String.prototype.shout = function () { return this.toUpperCase() + '!'; };
await tools.gate({ q: 1 }); const got = [1, 2].map(x => x * 2).join(); await tools.gate({ q: 2 });
const said = 'hey'.shout(); Array.prototype.map = map; delete String.prototype.shout; await tools.gate({ q: 3 });
[got, said, [1].map(x => x).join(), typeof ''.shout].join(' ');
