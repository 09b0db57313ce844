const shift = n => s => s.replace(/[a-z]/gi, c => {
  const base = c <= 'Z' ? 65 : 97;
  return String.fromCharCode(((c.charCodeAt(0) - base + n + 26) % 26) + base);
});
const rot13 = shift(13);
const secret = shift(3)('Attack at dawn, Zoe!');
//=
[secret, shift(-3)(secret), rot13(rot13('round trip'))]
