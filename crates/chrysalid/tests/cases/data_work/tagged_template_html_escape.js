const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const html = ({ raw }, ...subs) => String.raw({ raw }, ...subs.map(s => [s].flat().map(x => String(x).replace(/[&<>"']/g, c => escapes[c])).join('')));
const items = ['a < b', 'Tom & "Jerry"'];
//=
html`<ul>${items}</ul><p title="${"it's"}">${42}</p>`
