const sql = (strings, ...values) => ({
  text: strings.reduce((s, part, i) => `${s}$${i}${part}`),
  raw: strings.raw.at(-1),
  values,
});
const table = 'users', ids = [1, 2];
//=
sql`select * from t where name = ${table} and id in ${ids} -- \n done`
