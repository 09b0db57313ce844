const xs = [-1, 0, 127.5, 128, 255, 256, 300, NaN];
//=
({
  u8: Uint8Array.from(xs),
  clamped: Uint8ClampedArray.from(xs),
  i8: Int8Array.from(xs),
  f32: Float32Array.of(0.1, 1e40),
  big: BigInt64Array.of(-1n, 2n ** 63n),
})
