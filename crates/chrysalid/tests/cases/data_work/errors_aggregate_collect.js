const jobs = [() => 1, () => { throw new TypeError('bad type'); }, () => 3, () => { throw new RangeError('out of range'); }];
const values = [], errors = [];
for (const job of jobs) {
  try { values.push(job()); } catch (e) { errors.push(e); }
}
const all = new AggregateError(errors, `${errors.length} of ${jobs.length} failed`);
console.warn(all.message);
//=
({ values, kinds: all.errors.map(e => `${e.name}(${e.message})`), errors })
