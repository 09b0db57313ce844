const tags = { red: { warm: true }, blue: { warm: false }, orange: { warm: true } };
const byWarmth = Map.groupBy(Object.keys(tags), name => tags[name].warm);
//=
({ warm: byWarmth.get(true), cold: byWarmth.get(false), map: byWarmth })
