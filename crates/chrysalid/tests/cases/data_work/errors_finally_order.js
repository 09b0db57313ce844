const trace = [];
function run(mode) {
  try {
    trace.push(`try ${mode}`);
    if (mode === 'throw') throw new Error('x');
    if (mode === 'return') return 'from try';
    trace.push('fell through');
  } catch ({ message }) {
    return `caught ${message}`;
  } finally {
    trace.push(`finally ${mode}`);
    if (mode === 'override') return 'from finally';
  }
  return 'end';
}
//=
[['throw', 'return', 'override', 'plain'].map(run), trace]
