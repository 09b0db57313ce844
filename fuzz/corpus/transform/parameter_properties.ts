class A { constructor(private readonly x: number,
 public y = 2) { }
}
class B extends A { constructor(private z: string) { super(1); } }
new B("z")