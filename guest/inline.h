/* Stands in front of QuickJS: what the compiler must leave out of line, whatever the profile says. The interpreter is one
 * function with a handler for each of 250 instructions. What one handler takes in, all pay for: values that they share
 * lose their registers to it.
 */
#ifndef CHRYSALID_INLINE_H
#define CHRYSALID_INLINE_H

#include "quickjs.h"

#define OUT_OF_LINE __attribute__((noinline))

typedef struct JSObject JSObject;
typedef struct JSShape JSShape;
typedef struct JSStackFrame JSStackFrame;
typedef struct JSVarRef JSVarRef;
typedef struct JSFunctionBytecode JSFunctionBytecode;
typedef struct JSProperty JSProperty;

OUT_OF_LINE static JSValue JS_GetIterator(JSContext *ctx, JSValueConst obj, bool is_async);
OUT_OF_LINE static void free_object(JSRuntime *rt, JSObject *p);
OUT_OF_LINE static void js_free_value_rt(JSRuntime *rt, JSValue v);
OUT_OF_LINE static JSValue JS_NewObjectFromShape(JSContext *ctx, JSShape *sh, JSClassID class_id, JSProperty *props);
OUT_OF_LINE static JSValue js_closure(JSContext *ctx, JSValue bfunc, JSVarRef **cur_var_refs, JSStackFrame *sf);
OUT_OF_LINE static JSValue js_closure2(JSContext *ctx, JSValue func_obj, JSFunctionBytecode *b,
                                       JSVarRef **cur_var_refs, JSStackFrame *sf);
OUT_OF_LINE static JSValue JS_IteratorNext(JSContext *ctx, JSValueConst enum_obj, JSValueConst method, int argc,
                                           JSValueConst *argv, int *pdone);
OUT_OF_LINE static JSValue JS_GetPropertyValue(JSContext *ctx, JSValueConst this_obj, JSValue prop);
OUT_OF_LINE static int JS_IteratorClose(JSContext *ctx, JSValueConst enum_obj, bool is_exception_pending);
OUT_OF_LINE static int js_for_of_start(JSContext *ctx, JSValue *sp, bool is_async);
OUT_OF_LINE JSAtom JS_ValueToAtom(JSContext *ctx, JSValueConst val);
OUT_OF_LINE static JSValue JS_GetPropertyInternal(JSContext *ctx, JSValueConst obj, JSAtom prop,
                                                  JSValueConst this_obj, bool throw_ref_error);
OUT_OF_LINE static JSValue JS_CallConstructorInternal(JSContext *ctx, JSValueConst func_obj, JSValueConst new_target,
                                                      int argc, JSValueConst *argv, int flags);

/* Arrays of these would be in the frame of `run_rarely`, which is there at each call that leads through it. */
OUT_OF_LINE static JSValue js_build_arguments(JSContext *ctx, int argc, JSValueConst *argv);
OUT_OF_LINE static JSValue js_build_mapped_arguments(JSContext *ctx, int argc, JSValueConst *argv, JSStackFrame *sf,
                                                     int arg_count);
OUT_OF_LINE static int js_op_define_class(JSContext *ctx, JSValue *sp, JSAtom class_name, int class_flags,
                                          JSVarRef **cur_var_refs, JSStackFrame *sf, bool is_computed_name);
OUT_OF_LINE static int js_append_enumerate(JSContext *ctx, JSValue *sp);
OUT_OF_LINE static int js_for_in_start(JSContext *ctx, JSValue *sp);
OUT_OF_LINE static int js_for_in_next(JSContext *ctx, JSValue *sp);
OUT_OF_LINE static int js_op_using_check(JSContext *ctx, JSValueConst val, int hint, JSValue *pmethod);
OUT_OF_LINE static int js_method_set_properties(JSContext *ctx, JSValue func_obj, JSAtom name, int flags, JSValue home_obj);
OUT_OF_LINE static JSValue js_dynamic_import(JSContext *ctx, JSValueConst specifier, JSValueConst options);
OUT_OF_LINE static int JS_CopyDataProperties(JSContext *ctx, JSValue target, JSValue source, JSValue excluded, bool setprop);
OUT_OF_LINE static int JS_DefineGlobalVar(JSContext *ctx, JSAtom prop, int def_flags);

#endif
