async function retry(fn, attempts = 5) {
  let last;
  for (let i = 1; i <= attempts; i++) {
    try {
      return { ...(await fn()), tries: i };
    } catch (e) {
      last = e;
    }
  }
  throw last;
}
//=
await retry(() => tools.flaky({ key: 'alpha' }))
