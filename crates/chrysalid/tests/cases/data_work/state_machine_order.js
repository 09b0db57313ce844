const machine = {
  draft: { submit: 'pending' },
  pending: { pay: 'paid', cancel: 'cancelled' },
  paid: { ship: 'shipped', refund: 'cancelled' },
  shipped: { deliver: 'done' },
};
const run = events => events.reduce(
  ({ state, path, rejected }, event) => {
    const next = machine[state]?.[event];
    return next ? { state: next, path: [...path, next], rejected } : { state, path, rejected: [...rejected, `${event}@${state}`] };
  },
  { state: 'draft', path: ['draft'], rejected: [] },
);
//=
[run(['submit', 'pay', 'ship', 'deliver']), run(['pay', 'submit', 'cancel', 'ship'])]
