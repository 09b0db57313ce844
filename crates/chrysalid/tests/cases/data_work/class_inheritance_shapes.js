class Shape {
  constructor(name) { this.name = name; }
  area() { throw new Error(`${this.constructor.name} has no area`); }
  describe() { return `${this.name}: ${this.area().toFixed(2)}`; }
}
class Circle extends Shape { constructor(r) { super('circle'); this.r = r; } area() { return Math.PI * this.r ** 2; } }
class Rect extends Shape {
  constructor(w, h) { super(w === h ? 'square' : 'rect'); Object.assign(this, { w, h }); }
  area() { return this.w * this.h; }
  describe() { return super.describe().toUpperCase(); }
}
class Odd extends Shape {}
const shapes = [new Circle(1.5), new Rect(2, 3), new Rect(2, 2), new Odd('odd')];
//=
shapes.map(s => { try { return s.describe(); } catch (e) { return e; } })
