const points = [{ x: 1, y: 2 }, { y: 2, x: 1 }, { x: 1, y: 3 }, { x: 1, y: 2, z: undefined }];
const stable = o => JSON.stringify(Object.keys(o).sort().map(k => [k, o[k]]));
const uniq = [...new Map(points.map(p => [stable(p), p])).values()];
//=
uniq
