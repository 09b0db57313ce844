const response = { status: 200, headers: { 'content-type': 'text/csv' }, body: [['a', 1], ['b', 2], ['c', 3]] };
const { status: code, headers: { 'content-type': type = 'text/plain', etag = null }, body: [[firstKey], ...others], missing: { deep = 'fallback' } = {} } = response;
let [x, y] = [1, 2];
[x, y] = [y, x];
const swap = ({ length, 0: head, [length - 1]: last }) => [length, head, last];
//=
({ code, type, etag, firstKey, others, deep, x, y, ends: swap('hello') })
