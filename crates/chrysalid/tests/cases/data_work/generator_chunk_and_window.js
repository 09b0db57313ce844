function* chunk(xs, n) { for (let i = 0; i < xs.length; i += n) yield xs.slice(i, i + n); }
function* windows(xs, n) { for (let i = 0; i + n <= xs.length; i++) yield xs.slice(i, i + n); }
function* zip(...lists) {
  const iterators = lists.map(l => l[Symbol.iterator]());
  while (true) {
    const steps = iterators.map(it => it.next());
    if (steps.some(s => s.done)) return;
    yield steps.map(s => s.value);
  }
}
const xs = [1, 2, 3, 4, 5, 6, 7];
//=
[[...chunk(xs, 3)], [...windows(xs, 5)], [...zip('abc', xs, new Set([true, false]))]]
