const doc = { a: 1, b: { c: [true, null, { d: 'x' }], 'e.f': 2 }, g: [] };
function* walk(value, path = '$') {
  if (value !== null && typeof value === 'object') {
    const entries = Array.isArray(value) ? value.map((v, i) => [`[${i}]`, v]) : Object.entries(value).map(([k, v]) => [`.${k}`, v]);
    if (entries.length === 0) yield [path, value];
    for (const [step, child] of entries) yield* walk(child, path + step);
  } else yield [path, value];
}
//=
Object.fromEntries(walk(doc))
