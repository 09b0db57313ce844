const quarter = iso => `Q${Math.ceil(Number(iso.slice(5, 7)) / 3)}`;
const result = {};
for (const { hired, name } of await tools.employees()) (result[quarter(hired)] ||= []).push(name);
//=
Object.fromEntries(Object.entries(result).sort())
