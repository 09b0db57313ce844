const latencies = [12, 18, 25, 31, 44, 51, 60, 75, 120, 480];
const percentile = (sorted, p) => {
  const pos = (sorted.length - 1) * p;
  const lo = Math.floor(pos), hi = Math.ceil(pos);
  return sorted[lo] + (sorted[hi] - sorted[lo]) * (pos - lo);
};
const sorted = Float64Array.from(latencies).sort();
//=
({ p50: percentile(sorted, 0.5), p90: percentile(sorted, 0.9), p99: percentile(sorted, 0.99) })
