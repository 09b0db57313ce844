function* vending(price) {
  let credit = 0;
  while (true) {
    const coin = yield credit >= price ? `vend, change ${(credit -= price, credit)}` : `credit ${credit}`;
    if (coin === 'refund') credit = 0;
    else credit += coin;
  }
}
const m = vending(150);
const out = [m.next().value];
for (const input of [50, 100, 20, 'refund', 200]) out.push(m.next(input).value);
//=
out
