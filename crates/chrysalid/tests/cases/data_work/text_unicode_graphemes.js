const s = 'naïve 👩‍💻 café 𝒳 ñ';
const codePoints = [...s];
console.log(`${s.length} units, ${codePoints.length} code points`);
//=
({
  units: s.length,
  points: codePoints.length,
  reversed: codePoints.toReversed().join(''),
  astral: codePoints.filter(c => c.codePointAt(0) > 0xffff),
  nfc: s.normalize('NFC') === s,
})
