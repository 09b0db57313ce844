const parse = s => {
  const [, sign, whole, frac = ''] = s.match(/^(-?)(\d+)(?:\.(\d{1,2}))?$/);
  const cents = BigInt(whole) * 100n + BigInt(frac.padEnd(2, '0'));
  return sign ? -cents : cents;
};
const format = c => {
  const abs = c < 0n ? -c : c;
  return `${c < 0n ? '-' : ''}${abs / 100n}.${String(abs % 100n).padStart(2, '0')}`;
};
const amounts = ['0.1', '0.2', '-5', '123456789012345678.99', '10.05'];
const sum = amounts.map(parse).reduce((a, b) => a + b, 0n);
//=
{ sum, text: format(sum), naive: 0.1 + 0.2 }
