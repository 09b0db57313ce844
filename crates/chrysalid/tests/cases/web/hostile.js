// Changes all that a program can change. What follows it in the same session must not notice.
(() => {
  const { defineProperty, getOwnPropertyNames, getOwnPropertySymbols, getPrototypeOf } = Object;
  const iterator = Symbol.iterator;
  const hostile = () => { throw new Error("hostile"); };
  const spoil = (object) => {
    for (let kind = 0; kind < 2; kind++) {
      const list = kind ? getOwnPropertySymbols(object) : getOwnPropertyNames(object);
      for (let i = 0; i < list.length; i++) {
        if (list[i] === "constructor" || list[i] === "prototype") continue;
        try { defineProperty(object, list[i], { __proto__: null, value: hostile, writable: true, configurable: true }); } catch {}
      }
    }
  };
  const prototypes = [
    String, RegExp, Map, Set, Number, Boolean, BigInt, Date, Promise, Symbol, ArrayBuffer, DataView, Uint8Array, WeakRef,
  ].map((constructor) => constructor.prototype);
  prototypes.push(getPrototypeOf(Uint8Array.prototype), getPrototypeOf([][iterator]()), getPrototypeOf(new Map()[iterator]()));
  const statics = [Object, Array, Promise, Reflect, JSON, Math, String, Number, Date, Uint8Array, Symbol];
  for (let i = 0; i < prototypes.length; i++) spoil(prototypes[i]);
  for (let i = 0; i < statics.length; i++) spoil(statics[i]);
  const names = [
    "then", "value", "done", "next", "return", "get", "set", "toJSON", "writable", "enumerable", "configurable", "cause",
    "index", "length", "transfer", "handleEvent", "code", "input", "0", "1", "2", "3",
  ];
  for (let i = 0; i < names.length; i++) {
    defineProperty(Array.prototype.__proto__, names[i], { __proto__: null, get: hostile, set: hostile, configurable: true });
  }
  for (let i = 0; i < 40; i++) defineProperty(Array.prototype, i, { __proto__: null, get: hostile, set: hostile, configurable: true });
  const array = Array.prototype;
  const changed = ["map", "push", "join", "slice", "concat", "indexOf", "forEach", "values", "entries", "toString"];
  for (let i = 0; i < changed.length; i++) defineProperty(array, changed[i], { __proto__: null, value: hostile });
  defineProperty(array, iterator, { __proto__: null, value: hostile });
  defineProperty(Function.prototype, "call", { __proto__: null, value: hostile });
  defineProperty(Function.prototype, "apply", { __proto__: null, value: hostile });
  defineProperty(Function.prototype, "bind", { __proto__: null, value: hostile });
  const globals = ["Promise", "Map", "Set", "Date", "RegExp", "String", "Number", "Error", "TypeError", "DOMException", "DataView"];
  for (let i = 0; i < globals.length; i++) globalThis[globals[i]] = hostile;
})();
1;
