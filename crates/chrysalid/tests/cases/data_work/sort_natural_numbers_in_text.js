const files = ['img12.png', 'img10.png', 'IMG2.png', 'img1.png', 'doc3.txt', 'doc21.txt'];
const chunks = s => s.toLowerCase().split(/(\d+)/).map((part, i) => (i % 2 ? Number(part) : part));
files.sort((a, b) => {
  const x = chunks(a), y = chunks(b);
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    if (x[i] === y[i]) continue;
    return x[i] < y[i] ? -1 : 1;
  }
  return x.length - y.length;
});
//=
files
