/* The console: its methods write values, which the host renders; and the prelude, which makes the console object. */

static const char *const levels[] = { "log", "info", "debug", "warn", "error" };

static JSValue console_write(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int level)
{
    struct encoder e = { .mode = ENCODE_CLIP, .max_bytes = limits.log_bytes, .nodes_left = limits.nodes };
    JSValue line = JS_NewObjectProto(context, JS_NULL); /* the host counts the line as the first object of the tree */
    int failed = JS_IsException(line) || seen_add(&e, JS_VALUE_GET_OBJ(line)) || put_byte(&e, TAG_ARRAY) ||
                 put_varint(&e, (uint32_t)argc);

    (void)ctx;
    (void)this_value;
    JS_FreeValue(context, line);
    for (int i = 0; !failed && i < argc; i++)
        failed = encode_or_note(&e, argv[i], 1);
    if (!failed)
        import_log((uint32_t)level | (e.cut ? LEVEL_CUT : 0), e.out.data, e.out.length);
    else if (JS_HasException(context))
        drop_exception();
    encoder_free(&e);
    return JS_UNDEFINED;
}

static int run_prelude(void)
{
    JSValue host = JS_NewObjectProto(context, JS_NULL), setup, result;

    for (uint32_t i = 0; i < countof(levels); i++)
        JS_DefinePropertyValueStr(context, host, levels[i],
                                  JS_NewCFunctionMagic(context, console_write, levels[i], 0, JS_CFUNC_generic_magic, (int)i),
                                  JS_PROP_C_W_E);
    JS_DefinePropertyValueStr(context, host, "now", JS_NewCFunction(context, performance_now, "now", 0), JS_PROP_C_W_E);
    setup = JS_Eval(context, (const char *)prelude_js, prelude_js_length, "prelude.js", JS_EVAL_TYPE_GLOBAL);
    result = JS_Call(context, setup, JS_UNDEFINED, 1, vc(&host));
    JS_FreeValue(context, setup);
    JS_FreeValue(context, host);
    return JS_IsException(result) ? -1 : 0;
}
