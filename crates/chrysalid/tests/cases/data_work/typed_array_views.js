const buffer = new ArrayBuffer(16);
const view = new DataView(buffer);
view.setUint32(0, 0xdeadbeef);
view.setInt16(4, -2, true);
view.setFloat64(8, Math.PI);
const bytes = new Uint8Array(buffer);
const hex = Array.from(bytes, b => b.toString(16).padStart(2, '0')).join(' ');
console.log(hex);
//=
({ word: view.getUint32(0, true), short: view.getInt16(4, true), pi: view.getFloat64(8), bytes: bytes.slice(0, 6) })
