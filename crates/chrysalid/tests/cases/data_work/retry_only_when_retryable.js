const tryTwice = async call => {
  try {
    return await call();
  } catch (e) {
    if (!e.retryable) return `permanent: ${e.message}`;
    return call().catch(second => `again: ${second.message}`);
  }
};
//=
[await tryTwice(() => tools.flaky({ key: 'delta' })), await tryTwice(() => tools.get_customer({ id: -1 })), await tryTwice(() => tools.flaky({ key: 'delta' }))]
