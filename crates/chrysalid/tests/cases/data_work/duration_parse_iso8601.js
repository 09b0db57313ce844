const re = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const toSeconds = text => {
  const m = re.exec(text);
  if (!m) throw new RangeError(`bad duration: ${text}`);
  const [, w = 0, d = 0, h = 0, min = 0, s = 0] = m;
  return ((((+w * 7 + +d) * 24 + +h) * 60 + +min) * 60) + +s;
};
const out = ['PT15M', 'P1DT2H', 'P2W', 'PT0.5S'].map(toSeconds);
let problem;
try { toSeconds('15 minutes'); } catch (e) { problem = e; }
//=
[out, problem]
