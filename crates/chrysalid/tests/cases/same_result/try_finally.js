// value: caught,r,end,kept tthrowcfFtreturnfFtfallfF
const log = [];
async function f(how) { try { log.push('t' + how); await tools.gate({ q: how }); if (how === 'throw') throw new Error('x'); if (how === 'return') return 'r'; } catch (e) { log.push('c'); await tools.gate({ q: 'catch' }); return 'caught'; } finally { log.push('f'); await tools.gate({ q: 'finally' }); log.push('F'); } return 'end'; }
async function over() { try { return await tools.gate({ q: 'lost' }); } finally { return 'kept'; } }
const rs = []; for (const how of ['throw', 'return', 'fall']) rs.push(await f(how)); rs.push(await over());
rs.join() + ' ' + log.join('');
