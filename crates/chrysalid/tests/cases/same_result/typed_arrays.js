// value: 1,2,99,44,254,255,0,0,0,0,192,63,0,0,128,190 -2 1.5,-0.25 4 4611686018427387904 255,0,2 4 1,2,3
const buf = new ArrayBuffer(16); const bytes = new Uint8Array(buf), view = new DataView(buf), floats = new Float32Array(buf, 8, 2);
bytes.set([1, 2, 3]); view.setInt16(4, -2, true); floats[0] = 1.5;
await tools.gate({ q: 1 });
bytes[3] = 300; floats[1] = -0.25; const sub = bytes.subarray(2, 6); sub[0] = 99;
await tools.gate({ q: 2 });
const big = new BigInt64Array(2); big[0] = 2n ** 62n; const clamp = Uint8ClampedArray.from([300, -5, 1.5]);
[bytes.join(), view.getInt16(4, true), [...floats].join(), sub.length, big[0], clamp.join(), buf.slice(0, 4).byteLength, new Float64Array([3, 1, 2]).sort().join()].join(' ');
