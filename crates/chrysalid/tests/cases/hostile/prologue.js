// Whatever a program can reach is replaced, so that reading it is noted and calling it gives nonsense.
{
    const { defineProperty, getPrototypeOf } = Object;
    const { ownKeys } = Reflect;
    const push = Function.prototype.call.bind(Array.prototype.push);
    const textOf = String;
    const lie = () => "stolen";
    const trap = (object, key, name) => {
        try {
            defineProperty(object, key, {
                __proto__: null,
                configurable: true,
                get() { stolen += name + " "; return lie; },
                set() { stolen += name + "= "; },
            });
        } catch {}
    };
    const classes = {
        Promise, Array, String, Number, Boolean, BigInt, Symbol, RegExp, Date, Map, Set, WeakMap, WeakSet, WeakRef, Function,
        Error, AggregateError, ArrayBuffer, DataView, Uint8Array, Iterator, FinalizationRegistry,
        TypedArray: getPrototypeOf(Uint8Array),
        ArrayIterator: { prototype: getPrototypeOf([][Symbol.iterator]()) },
        MapIterator: { prototype: getPrototypeOf(new Map()[Symbol.iterator]()) },
        SetIterator: { prototype: getPrototypeOf(new Set()[Symbol.iterator]()) },
        StringIterator: { prototype: getPrototypeOf(""[Symbol.iterator]()) },
        Generator: { prototype: getPrototypeOf(function* () {}.prototype) },
        AsyncGenerator: { prototype: getPrototypeOf(async function* () {}.prototype) },
    };
    const globals = [
        "Promise", "JSON", "Array", "Object", "Function", "Error", "TypeError", "RangeError", "SyntaxError", "ReferenceError",
        "AggregateError", "Map", "Set", "WeakMap", "WeakRef", "Reflect", "Proxy", "Symbol", "Number", "String", "Boolean",
        "BigInt", "Date", "RegExp", "Math", "Uint8Array", "ArrayBuffer", "DataView", "Iterator", "console", "eval", "isNaN",
        "parseInt", "parseFloat",
    ];
    const inherited = [
        "then", "toJSON", "name", "message", "stack", "cause", "errors", "code", "tool", "retryable", "amount", "ok", "n", "v",
        "length", "0", "1", "index", "input", "done", "next", "return", "throw", "toString", "valueOf", "hasOwnProperty",
        Symbol.iterator, Symbol.asyncIterator, Symbol.toStringTag, Symbol.toPrimitive, Symbol.species, Symbol.match,
        "enumerable", "configurable", "writable", "get", "set", "value",
    ];
    const work = [];
    for (const name in classes) {
        const of = classes[name];
        for (const key of ownKeys(of.prototype))
            if (key !== "constructor" && !(name === "Error" && (key === "name" || key === "message")))
                push(work, [of.prototype, key, name + ".prototype." + textOf(key)]);
        if (typeof of === "function")
            for (const key of ownKeys(of))
                if (key !== "prototype" && key !== "name" && key !== "length") push(work, [of, key, name + "." + textOf(key)]);
    }
    for (const space of ["Object", "Reflect", "JSON", "Math"])
        for (const key of ownKeys(globalThis[space]))
            if (key !== "prototype" && key !== "name" && key !== "length")
                push(work, [globalThis[space], key, space + "." + textOf(key)]);
    for (const name of globals) push(work, [globalThis, name, name]);
    for (const key of inherited) push(work, [Object.prototype, key, "Object.prototype." + textOf(key)]);
    Error.prepareStackTrace = () => "stolen";
    for (let i = 0, count = work.length; i < count; i++) {
        const one = work[i];
        trap(one[0], one[1], one[2]);
    }
    Error.prepareStackTrace = () => { stolen += "prepareStackTrace "; return "stolen"; };
    stolen = "";
}
