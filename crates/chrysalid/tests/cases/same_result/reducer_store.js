// value: 6 1,3 6 true 0,5,12,13,6,6
const reducer = (s, a) => { switch (a.type) { case 'add': return { ...s, items: [...s.items, a.item], total: s.total + a.item.price }; case 'remove': return { ...s, items: s.items.filter(i => i.id !== a.id), total: s.items.filter(i => i.id !== a.id).reduce((t, i) => t + i.price, 0) }; default: return s; } };
let state = Object.freeze({ items: [], total: 0 }); const history = [state]; const dispatch = async a => { await tools.gate({ q: a.type }); history.push(state = Object.freeze(reducer(state, a))); };
for (const [id, price] of [[1, 5], [2, 7], [3, 1]]) await dispatch({ type: 'add', item: { id, price } });
await dispatch({ type: 'remove', id: 2 }); await dispatch({ type: 'noop' });
[state.total, state.items.map(i => i.id).join(), history.length, history[4] === history[5], history.map(h => h.total).join()].join(' ');
