// value: 2 7,7 2 64
const buf = new ArrayBuffer(4, { maxByteLength: 64 }); const all = new Uint8Array(buf);
all.fill(7); await tools.gate({ q: 'small' });
buf.resize(8); all[7] = 1; await tools.gate({ q: 'grown' });
buf.resize(2); [all.length, all.join(), buf.byteLength, buf.maxByteLength].join(' ');
