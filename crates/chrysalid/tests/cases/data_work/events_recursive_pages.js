const collect = async (cursor = null, acc = []) => {
  const { events, next_cursor } = await tools.list_events({ cursor, limit: 6 });
  const all = acc.concat(events);
  return next_cursor ? collect(next_cursor, all) : all;
};
//=
collect().then(all => all.map(e => e.id).join(','))
