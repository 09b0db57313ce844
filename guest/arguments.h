/* Stands in front of QuickJS: another order of arguments. Cranelift hands over four in registers, the others on the stack,
 * where it writes 32 bits of a small one and reads 64 back. A processor cannot hand on what was written in part, and waits
 * until it has left for memory: at each call, for longer than the call takes otherwise. So in functions that run often,
 * values come last, which have 64 bits, and what is smaller comes first. Each macro turns declaration, definition and calls
 * alike.
 */
#ifndef CHRYSALID_ARGUMENTS_H
#define CHRYSALID_ARGUMENTS_H

#define JS_CallInternal(ctx, func, this, target, argc, argv, flags)                                                    \
    JS_CallInternal(ctx, argc, argv, flags, func, this, target)
#define JS_CallConstructorInternal(ctx, func, target, argc, argv, flags)                                               \
    JS_CallConstructorInternal(ctx, argc, argv, flags, func, target)
#define JS_CallFree(ctx, func, this, argc, argv) JS_CallFree(ctx, argc, argv, func, this)
#define JS_Call(ctx, func, this, argc, argv) JS_Call(ctx, argc, argv, func, this)
#define JS_IteratorNext(ctx, of, method, argc, argv, done) JS_IteratorNext(ctx, argc, argv, done, of, method)
#define JS_IteratorNext2(ctx, of, method, argc, argv, done) JS_IteratorNext2(ctx, argc, argv, done, of, method)

#define JS_GetPropertyInternal(ctx, of, name, this, throws) JS_GetPropertyInternal(ctx, name, throws, of, this)
#define JS_SetPropertyInternal(ctx, of, name, value, flags) JS_SetPropertyInternal(ctx, name, flags, of, value)
#define JS_SetPropertyInternal2(ctx, of, name, value, this, flags)                                                     \
    JS_SetPropertyInternal2(ctx, name, flags, of, value, this)
#define JS_SetPropertyValue(ctx, of, name, value, flags) JS_SetPropertyValue(ctx, flags, of, name, value)
#define JS_CreateProperty(ctx, of, name, value, getter, setter, flags)                                                 \
    JS_CreateProperty(ctx, of, name, flags, value, getter, setter)
#define JS_CreateDataPropertyUint32(ctx, of, index, value, flags)                                                      \
    JS_CreateDataPropertyUint32(ctx, flags, of, index, value)
#define JS_DefineProperty(ctx, of, name, value, getter, setter, flags)                                                 \
    JS_DefineProperty(ctx, name, flags, of, value, getter, setter)
#define JS_DefinePropertyValue(ctx, of, name, value, flags) JS_DefinePropertyValue(ctx, name, flags, of, value)
#define JS_DefinePropertyValueConst(ctx, of, name, value, flags)                                                       \
    JS_DefinePropertyValueConst(ctx, name, flags, of, value)
#define JS_DefinePropertyValueInt64(ctx, of, index, value, flags)                                                      \
    JS_DefinePropertyValueInt64(ctx, flags, of, index, value)
#define JS_DefinePropertyValueInt64Const(ctx, of, index, value, flags)                                                 \
    JS_DefinePropertyValueInt64Const(ctx, flags, of, index, value)
#define JS_DefinePropertyValueUint32(ctx, of, index, value, flags)                                                     \
    JS_DefinePropertyValueUint32(ctx, index, flags, of, value)
#define JS_DefinePropertyValueValue(ctx, of, name, value, flags)                                                       \
    JS_DefinePropertyValueValue(ctx, flags, of, name, value)
/* Calls of objects that are no functions of a program. All functions of the type JSClassCall have to be here: one that is
 * missing gets its arguments in the wrong order, and traps.
 */
#define JSClassCall(ctx, func, this, argc, argv, flags) JSClassCall(ctx, argc, argv, flags, func, this)
#define call_func(ctx, func, this, argc, argv, flags) call_func(ctx, argc, argv, flags, func, this)
#define js_call_c_function(ctx, func, this, argc, argv, flags) js_call_c_function(ctx, argc, argv, flags, func, this)
#define js_call_c_function_data(ctx, func, this, argc, argv, flags)                                                    \
    js_call_c_function_data(ctx, argc, argv, flags, func, this)
#define js_call_c_closure(ctx, func, this, argc, argv, flags) js_call_c_closure(ctx, argc, argv, flags, func, this)
#define js_call_bound_function(ctx, func, this, argc, argv, flags)                                                     \
    js_call_bound_function(ctx, argc, argv, flags, func, this)
#define js_call_generator_function(ctx, func, this, argc, argv, flags)                                                 \
    js_call_generator_function(ctx, argc, argv, flags, func, this)
#define js_proxy_call(ctx, func, this, argc, argv, flags) js_proxy_call(ctx, argc, argv, flags, func, this)
#define js_promise_resolve_function_call(ctx, func, this, argc, argv, flags)                                           \
    js_promise_resolve_function_call(ctx, argc, argv, flags, func, this)
#define js_async_function_call(ctx, func, this, argc, argv, flags)                                                     \
    js_async_function_call(ctx, argc, argv, flags, func, this)
#define js_async_function_resolve_call(ctx, func, this, argc, argv, flags)                                             \
    js_async_function_resolve_call(ctx, argc, argv, flags, func, this)
#define js_async_generator_function_call(ctx, func, this, argc, argv, flags)                                           \
    js_async_generator_function_call(ctx, argc, argv, flags, func, this)

#endif
