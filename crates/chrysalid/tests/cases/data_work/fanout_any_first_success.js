const winner = await Promise.any([
  tools.slowFail({ ms: 20 }),
  tools.slow({ ms: 90, v: 'mirror B' }),
  tools.slow({ ms: 60, v: 'mirror C' }),
]);
const none = await Promise.any([tools.slowFail({ ms: 5 }), tools.get_customer({ id: 77 })]).catch(e => e);
//=
({ winner, name: none.name, reasons: none.errors.map(e => e.message) })
