const template = 'Dear {{user.name}}, your order {{order.id}} of {{order.items.0.title}} ships {{when}}. {{missing}}';
const data = { user: { name: 'Ana' }, order: { id: 17, items: [{ title: 'Tea' }] }, when: 'today' };
const lookup = (obj, path) => path.split('.').reduce((o, k) => o?.[k], obj);
//=
template.replace(/\{\{\s*([\w.]+)\s*\}\}/g, (whole, path) => lookup(data, path) ?? `<${path}?>`)
