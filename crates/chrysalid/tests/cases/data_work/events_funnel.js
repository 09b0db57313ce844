async function* stream() {
  let cursor = null;
  do {
    const page = await tools.list_events({ cursor, limit: 5 });
    for (const event of page.events) yield event;
    cursor = page.next_cursor;
  } while (cursor);
}
const users = {};
for await (const { user, type } of stream()) (users[user] ??= []).push(type);
const steps = ['view', 'add_to_cart', 'purchase'];
const reached = steps.map(step => Object.values(users).filter(types => types.includes(step)).length);
//=
{ users, reached }
