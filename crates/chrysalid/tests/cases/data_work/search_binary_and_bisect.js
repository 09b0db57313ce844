const xs = [1, 3, 3, 3, 7, 9, 12];
const bisect = (a, x, right = false) => {
  let lo = 0, hi = a.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (right ? a[mid] <= x : a[mid] < x) lo = mid + 1;
    else hi = mid;
  }
  return lo;
};
//=
[0, 3, 8, 12, 99].map(x => [bisect(xs, x), bisect(xs, x, true)])
