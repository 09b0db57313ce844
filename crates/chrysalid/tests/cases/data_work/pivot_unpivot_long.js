const wide = [{ id: 1, jan: 3, feb: 4 }, { id: 2, jan: 0, feb: 9 }];
const long = wide.flatMap(({ id, ...months }) => Object.entries(months).map(([month, value]) => ({ id, month, value })));
//=
long
