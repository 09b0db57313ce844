const A = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const encode = bytes => {
  let out = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const n = (bytes[i] << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    const left = bytes.length - i;
    out += A[n >> 18] + A[(n >> 12) & 63] + (left > 1 ? A[(n >> 6) & 63] : '=') + (left > 2 ? A[n & 63] : '=');
  }
  return out;
};
const texts = ['', 'M', 'Ma', 'Man', 'héllo'.normalize()];
//=
texts.map(t => encode(Uint8Array.from(unescape(encodeURIComponent(t)), c => c.charCodeAt(0))))
