const memo = fn => {
  const cache = new Map();
  const wrapped = (...args) => {
    const key = JSON.stringify(args);
    if (!cache.has(key)) cache.set(key, fn(...args));
    return cache.get(key);
  };
  wrapped.cache = cache;
  return wrapped;
};
const ways = memo((n, coins) => (n === 0 ? 1 : n < 0 || !coins.length ? 0 : ways(n - coins[0], coins) + ways(n, coins.slice(1))));
//=
{ ways: ways(200, [100, 50, 20, 10, 5, 2, 1]), cached: ways.cache.size }
