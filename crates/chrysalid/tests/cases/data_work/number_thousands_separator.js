const group = n => {
  const [int, frac] = String(n).split('.');
  return int.replace(/\B(?=(\d{3})+(?!\d))/g, ',') + (frac ? `.${frac}` : '');
};
//=
[0, 999, 1000, 1234567.891, -9876543, 1e6].map(group)
