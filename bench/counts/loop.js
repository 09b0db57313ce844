// Arithmetic on locals: whole numbers, then fractions.
function work(steps) {
  let whole = 7;
  let fraction = 0;
  for (let i = 0; i < steps; i++) {
    whole = (whole * 31 + i) & 0xffff;
    fraction += whole / (i + 1);
  }
  return whole + fraction;
}
work(ROUNDS * 1_000) > 0 ? "as it should be" : "nothing";
