const rows = [{ age: 20, city: 'Rome' }, { age: 35, city: 'Oslo' }, { age: 50, city: 'Rome' }];
const ops = { '=': (a, b) => a === b, '!=': (a, b) => a !== b, '>': (a, b) => a > b, '<': (a, b) => a < b, '~': (a, b) => new RegExp(b, 'i').test(a) };
const compile = query => {
  const clauses = query.split(/\s+or\s+/).map(c => c.split(/\s+and\s+/).map(t => {
    const [, field, op, raw] = /^(\w+)\s*(!=|[=<>~])\s*(.+)$/.exec(t.trim());
    const value = /^\d+$/.test(raw) ? Number(raw) : raw.replace(/^'|'$/g, '');
    return row => ops[op](row[field], value);
  }));
  return row => clauses.some(all => all.every(test => test(row)));
};
//=
["age > 30 and city = 'Rome'", "age < 25 or city ~ ^os", "city != 'Rome'"].map(q => rows.filter(compile(q)).map(r => r.age))
