const d = new Date(Date.UTC(2025, 6, 4, 5, 9, 3, 7));
const pad = (n, w = 2) => `${n}`.padStart(w, '0');
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const tokens = {
  YYYY: d.getUTCFullYear(), MM: pad(d.getUTCMonth() + 1), DD: pad(d.getUTCDate()), HH: pad(d.getUTCHours()),
  mm: pad(d.getUTCMinutes()), ss: pad(d.getUTCSeconds()), SSS: pad(d.getUTCMilliseconds(), 3),
  MMM: months[d.getUTCMonth()], ddd: days[d.getUTCDay()],
};
const fmt = f => f.replace(/YYYY|MMM|MM|DD|HH|mm|SSS|ss|ddd/g, t => tokens[t]);
//=
[fmt('YYYY-MM-DD HH:mm:ss.SSS'), fmt('ddd, DD MMM YYYY'), d.toISOString(), d.toJSON(), d.toUTCString()]
