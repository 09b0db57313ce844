class Fraction {
  constructor(n, d = 1) {
    const g = Fraction.#gcd(Math.abs(n), Math.abs(d)) * Math.sign(d);
    this.n = n / g;
    this.d = d / g;
  }
  static #gcd(a, b) { return b ? Fraction.#gcd(b, a % b) : a; }
  add({ n, d }) { return new Fraction(this.n * d + n * this.d, this.d * d); }
  mul({ n, d }) { return new Fraction(this.n * n, this.d * d); }
  toString() { return this.d === 1 ? `${this.n}` : `${this.n}/${this.d}`; }
  get value() { return this.n / this.d; }
}
const half = new Fraction(1, 2), third = new Fraction(2, -6);
//=
`${half.add(third)} ${half.mul(third)} ${half.add(half)} ${third.value.toFixed(3)}`
