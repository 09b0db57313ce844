const events = [];
let cursor = null;
do {
  const page = await tools.list_events({ cursor });
  events.push(...page.events);
  cursor = page.next_cursor;
} while (cursor !== null);
return {
  n: events.length,
  first: new Date(events[0].at),
  types: [...new Set(events.map(e => e.type))],
};
