// value: ToolFailed,wrapped a,5,ToolError,a,true,ToolFailed,wrapped b,5,ToolError,b,true
class ToolFailed extends Error { constructor(m, o) { super(m, o); this.name = 'ToolFailed'; this.at = 5; } }
async function wrap(msg) { try { await tools.gate({ q: msg }); return await tools.fail({ msg }); } catch (e) { throw new ToolFailed('wrapped ' + msg, { cause: e }); } }
const out = [];
for (const msg of ['a', 'b']) { try { await wrap(msg); } catch (e) { await tools.gate({ q: 'handling' }); out.push(e.name, e.message, e.at, e.cause.name, e.cause.message, e instanceof ToolFailed); } }
out.join();
