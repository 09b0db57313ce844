// What later programs hold on to, with and without the prologue.
const { log, warn, error, info, table, dir, count, group, groupEnd } = console;
const Pending = Promise, Fault = RangeError, DateOf = Date;
const map = new Map([["a", 1], [{ k: 1 }, 2]]), set = new Set([1, "x"]), date = new Date(86400000);
const bytes = new Uint8Array([104, 105]), buffer = new Uint8Array([1, 2, 3]).buffer, big = 2n ** 70n;
const failure = new RangeError("kept", { cause: new TypeError("inner") });
const cycle = { n: 1 };
cycle.self = cycle;
let stolen = "";
