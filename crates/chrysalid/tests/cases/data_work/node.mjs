// Runs every program of a folder in Node and prints one JSON line for each: `{name, value, lines}` or `{name, error}`.
// The value is canonical text, as `canonical` in data_work.rs writes it. Programs that begin with `// expect:` are left
// out. Time is virtual: it moves to the next timer when nothing else is left to do.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, types } from 'node:util';

const folder = process.argv[2];
const data = JSON.parse(readFileSync(join(folder, 'data.json'), 'utf8'));
const AsyncFunction = (async () => {}).constructor;

// Node 20 has neither of these two.
Map.groupBy ??= (items, keyOf) => {
  const groups = new Map();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    if (groups.has(key)) groups.get(key).push(item);
    else groups.set(key, [item]);
  }
  return groups;
};
Object.groupBy ??= (items, keyOf) => {
  const groups = Map.groupBy(items, (item, index) => String(keyOf(item, index)));
  return Object.assign(Object.create(null), Object.fromEntries(groups));
};

// ---- canonical text ----

function canonical(root) {
  const seen = new Map();
  const tagged = (tag, text) => `{"$${tag}":${text}}`;
  const quoted = (text) => JSON.stringify(text.toWellFormed());
  const list = (items) => `[${Array.from(items, write).join(',')}]`;
  const number = (value) =>
    Number.isSafeInteger(value) && !Object.is(value, -0)
      ? String(value)
      : tagged('number', quoted(Object.is(value, -0) ? '-0' : String(value)));

  function write(value) {
    switch (typeof value) {
      case 'undefined': return tagged('undefined', 'true');
      case 'boolean': return String(value);
      case 'number': return number(value);
      case 'bigint': return tagged('bigint', quoted(String(value)));
      case 'string': return quoted(value);
      case 'function': return tagged('description', quoted(`[Function: ${value.name}]`));
      case 'symbol': return tagged('description', quoted(value.toString()));
    }
    if (value === null) return 'null';
    if (seen.has(value)) return tagged('ref', seen.get(value));
    const prototype = Object.getPrototypeOf(value);
    const known = Array.isArray(value) || types.isDate(value) || types.isRegExp(value) || types.isMap(value)
      || types.isSet(value) || types.isNativeError(value) || types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value);
    if (!known && prototype !== Object.prototype && prototype !== null) {
      return tagged('description', quoted(`[${prototype.constructor.name}]`));
    }
    seen.set(value, seen.size);
    if (types.isDate(value)) return tagged('date', number(value.getTime()));
    if (types.isRegExp(value)) return tagged('regexp', quoted(`/${value.source}/${value.flags}`));
    if (types.isMap(value)) return tagged('map', `[${Array.from(value, ([k, v]) => `[${write(k)},${write(v)}]`).join(',')}]`);
    if (types.isSet(value)) return tagged('set', list(value));
    if (types.isNativeError(value)) return tagged('error', `[${quoted(value.name)},${quoted(value.message)}]`);
    if (types.isAnyArrayBuffer(value)) return tagged('buffer', list(new Uint8Array(value)));
    if (ArrayBuffer.isView(value)) return tagged('typed', `[${quoted(value.constructor.name)},${list(value)}]`);
    if (Array.isArray(value)) {
      const items = [];
      for (let i = 0; i < value.length; i++) items.push(i in value ? write(value[i]) : tagged('hole', 'true'));
      return `[${items.join(',')}]`;
    }
    const field = (key) => `${quoted(key.startsWith('$') ? `$${key}` : key)}:${write(value[key])}`;
    return `{${Object.keys(value).map(field).join(',')}}`;
  }
  return write(root);
}

// ---- virtual time ----

class World {
  now = Date.UTC(2027, 0, 15, 8);
  timers = [];
  calls = [];
  number = 0;

  setTimeout = (act, delay = 0, ...rest) => {
    const id = ++this.number;
    this.timers.push({ id, due: this.now + Math.max(1, Math.trunc(delay) || 0), act: () => act(...rest) });
    return id;
  };
  setInterval = (act, delay = 0, ...rest) => {
    const id = ++this.number;
    const every = Math.max(1, Math.trunc(delay) || 0);
    const again = () => {
      this.timers.push({ id, due: this.now + every, act: () => { again(); act(...rest); } });
    };
    again();
    return id;
  };
  clearTimeout = (id) => {
    this.timers = this.timers.filter((timer) => timer.id !== id);
  };

  // A call that is answered after `delay`, together with all others that are due by then.
  call(delay, answer) {
    return new Promise((resolve, reject) => {
      this.calls.push({
        due: this.now + delay,
        answer: () => {
          try {
            resolve(answer());
          } catch (error) {
            reject(error);
          }
        },
      });
    });
  }

  // Until the promise is settled.
  async drive(promise) {
    let settled = false;
    promise.then(() => (settled = true), () => (settled = true));
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const ready = this.calls.filter((call) => call.due <= this.now);
      if (ready.length > 0) {
        this.calls = this.calls.filter((call) => call.due > this.now);
        for (const call of ready) call.answer();
        continue;
      }
      const due = this.timers.filter((timer) => timer.due <= this.now).sort((a, b) => a.due - b.due || a.id - b.id);
      if (due.length > 0) {
        this.timers = this.timers.filter((timer) => timer !== due[0]);
        due[0].act();
        continue;
      }
      const next = Math.min(...this.timers.map((timer) => timer.due), ...this.calls.map((call) => call.due));
      if (settled) return promise;
      if (next === Infinity) throw new Error('waits for nothing');
      this.now = next;
    }
  }
}

// ---- tools ----

class ToolError extends Error {
  constructor(message, retryable = false) {
    super(message);
    Object.defineProperty(this, 'name', { value: 'ToolError' });
    this.retryable = retryable;
  }
}

// A copy with the keys of objects in sorted order, which is how the other side gives them.
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]));
}

function toolsOf(world) {
  let mails = 0;
  const attempts = new Map();
  const table = {
    list_orders({ page = 1, page_size = 5, status }) {
      const matching = data.orders.filter((order) => status === undefined || order.status === status);
      const pages = Math.ceil(matching.length / page_size);
      const orders = matching.slice((page - 1) * page_size, page * page_size);
      return { has_more: page < pages, orders, page, pages, total: matching.length };
    },
    get_customer({ id }) {
      const customer = data.customers.find((customer) => customer.id === id);
      if (!customer) throw new ToolError(`no customer with id ${id}`);
      return customer;
    },
    flaky({ key }) {
      const attempt = (attempts.get(key) ?? 0) + 1;
      attempts.set(key, attempt);
      if (attempt < 3) throw new ToolError(`${key} is temporarily unavailable`, true);
      return { attempt, key };
    },
    search({ query, limit = 3 }) {
      const word = query.toLowerCase();
      return data.articles
        .map(({ id, title, body }) => ({ id, title, score: `${title} ${body}`.toLowerCase().split(word).length - 1 }))
        .filter((hit) => hit.score > 0)
        .sort((a, b) => b.score - a.score)
        .slice(0, limit);
    },
    inventory({ sku }) {
      const item = data.inventory[sku];
      if (!item) throw new ToolError(`unknown sku ${sku}`);
      return item;
    },
    fx_rates({ base }) {
      const rates = data.rates[base];
      if (!rates) throw new ToolError(`no rates for ${base}`);
      return { base, rates };
    },
    send_mail({ to }) {
      if (typeof to !== 'string' || !to.includes('@')) throw new ToolError('invalid address');
      mails += 1;
      return { count: mails, id: `mail-${mails}` };
    },
    fetch_text({ name }) {
      const text = data.texts[name];
      if (text === undefined) throw new ToolError(`not found: ${name}`);
      return text;
    },
    list_events({ cursor = null, limit = 4 }) {
      const start = cursor === null ? 0 : Number(cursor);
      const end = start + limit;
      return { events: data.events.slice(start, end), next_cursor: end < data.events.length ? String(end) : null };
    },
    employees() {
      return data.employees;
    },
  };
  const tools = Object.create(null);
  for (const [name, act] of Object.entries(table)) {
    tools[name] = (argument = {}) => {
      const copy = structuredClone(argument);
      return world.call(0, () => sorted(act(copy)));
    };
  }
  tools.slow = ({ ms = 0, v } = {}) => world.call(ms, () => v);
  tools.slowFail = ({ ms = 0 } = {}) => world.call(ms, () => {
    throw new ToolError('slow failure');
  });
  return Object.freeze(tools);
}

// ---- programs ----

// The body of an async function: what follows the line `//=` is the value.
function body(source) {
  const lines = source.split('\n');
  const mark = lines.indexOf('//=');
  if (mark < 0) return source;
  const value = lines.slice(mark + 1).join('\n').trimEnd().replace(/;$/, '');
  return `${lines.slice(0, mark).join('\n')}\nreturn (\n${value}\n)`;
}

async function run(source) {
  const lines = [];
  const console = {};
  for (const level of ['log', 'info', 'debug', 'warn', 'error']) {
    console[level] = (...parts) => void lines.push(`${level} ${format(...parts)}`);
  }
  const world = new World();
  const names = { tools: toolsOf(world), console, setTimeout: world.setTimeout, clearTimeout: world.clearTimeout,
    setInterval: world.setInterval, clearInterval: world.clearTimeout };
  Date.now = () => world.now;
  const program = new AsyncFunction(...Object.keys(names), body(source));
  const value = await world.drive(program(...Object.values(names)));
  return { value: canonical(value), lines };
}

for (const file of readdirSync(folder).filter((file) => file.endsWith('.js')).sort()) {
  const name = file.slice(0, -3);
  const source = readFileSync(join(folder, file), 'utf8');
  if (source.startsWith('// expect:')) continue;
  const seen = await run(source).catch((error) => ({ error: `${error?.name}: ${error?.message}\n${error?.stack}` }));
  process.stdout.write(`${JSON.stringify({ name, ...seen })}\n`);
}
