// Arithmetic on locals: whole numbers, then fractions.
function work(rounds) {
  let whole = 7;
  let fraction = 0;
  for (let i = 0; i < rounds; i++) {
    whole = (whole * 31 + i) & 0xffff;
    fraction += whole / (i + 1);
  }
  return `${whole} ${fraction}`;
}
work(2_000_000);
