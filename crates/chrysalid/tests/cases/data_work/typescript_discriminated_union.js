// expect: [{"$number":"12.57"},9,0]
// reason: Node 20 does not run TypeScript
type Shape =
  | { kind: 'circle'; radius: number }
  | { kind: 'rect'; width: number; height: number }
  | { kind: 'point' };

const area = (shape: Shape): number => {
  switch (shape.kind) {
    case 'circle': return Math.PI * shape.radius ** 2;
    case 'rect': return shape.width * shape.height;
    case 'point': return 0;
    default: {
      const never: never = shape;
      throw new Error(`unknown ${never}`);
    }
  }
};
const shapes = [{ kind: 'circle', radius: 2 }, { kind: 'rect', width: 2, height: 4.5 }, { kind: 'point' }] satisfies Shape[];
//=
shapes.map(area).map((n: number) => Number(n.toFixed(2)))
