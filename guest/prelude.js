// Runs once, before the baseline image is taken. `host` carries the C functions that have no name of their own.
(function (host) {
  "use strict";
  const counts = new Map();
  const clocks = new Map();
  const { log, info, debug, warn, error, now } = host;
  let indent = "";
  const labelled = (label) => (label === undefined ? "default" : String(label));
  const write = (sink) => (...values) => sink(...(indent ? [indent.slice(1), ...values] : values));
  const out = write(log);
  const elapsed = (label) => `${label}: ${now() - clocks.get(label)}ms`;
  const console = {
    log: out,
    info: write(info),
    debug: write(debug),
    warn: write(warn),
    error: write(error),
    trace: (...values) => error("Trace:", ...values),
    dir: (value) => out(value),
    dirxml: out,
    table: (value) => out(value),
    assert: (condition, ...values) => {
      if (!condition) error("Assertion failed" + (values.length ? ":" : ""), ...values);
    },
    count: (label) => {
      const name = labelled(label);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      out(`${name}: ${counts.get(name)}`);
    },
    countReset: (label) => void counts.delete(labelled(label)),
    group: (...values) => {
      if (values.length) out(...values);
      indent += "  ";
    },
    groupCollapsed: (...values) => console.group(...values),
    groupEnd: () => void (indent = indent.slice(2)),
    time: (label) => void clocks.set(labelled(label), now()),
    timeLog: (label, ...values) => {
      if (clocks.has(labelled(label))) out(elapsed(labelled(label)), ...values);
    },
    timeEnd: (label) => {
      if (clocks.has(labelled(label))) out(elapsed(labelled(label)));
      clocks.delete(labelled(label));
    },
    clear: () => {},
  };
  Object.defineProperty(globalThis, "console", { value: console, writable: true, configurable: true });
});
