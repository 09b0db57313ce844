const units = [['d', 86400], ['h', 3600], ['m', 60], ['s', 1]];
function human(seconds) {
  if (seconds === 0) return '0s';
  const sign = seconds < 0 ? '-' : '';
  let rest = Math.abs(seconds);
  const parts = [];
  for (const [unit, size] of units) {
    const n = Math.floor(rest / size);
    if (n) parts.push(`${n}${unit}`);
    rest %= size;
  }
  return sign + parts.join(' ');
}
//=
[0, 59, 60, 3661, 90061, -7200, 31536000].map(human)
