function* averager() {
  let total = 0, count = 0, mean = null;
  try {
    while (true) {
      total += yield mean;
      mean = total / ++count;
    }
  } finally {
    console.log(`closed after ${count}`);
  }
}
const g = averager();
g.next();
const means = [10, 20, 60].map(v => g.next(v).value);
const end = g.return('bye');
//=
[means, end, g.next(1)]
