const log = [];
const track = (name, p) => p.then(v => { log.push(`${name} ok`); return v; }, e => { log.push(`${name} failed`); throw e; });
let message;
try {
  await Promise.all([track('a', tools.slow({ ms: 100, v: 'a' })), track('b', tools.slowFail({ ms: 20 }))]);
} catch (e) {
  message = e.message;
  log.push('caught');
}
//=
({ message, log: [...log] })
