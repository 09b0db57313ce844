const results = [
  () => null.x, () => undefinedName, () => 'x'.repeat(-1), () => new Array(-1), () => JSON.parse('{'), () => BigInt(1.5),
  () => decodeURIComponent('%'), () => { throw new URIError('mine'); }, () => Symbol() + '', () => 1n + 1,
].map(f => { try { return f(); } catch (e) { return e.constructor.name; } });
//=
results
