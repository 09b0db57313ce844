/* The global function `reveal`, where the host wants one: a call with a handle as its argument, made as those of tools are. */

/* What was passed in place of one handle. */
static const char *kind_in_words(JSValueConst value)
{
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_NULL:
        return "null";
    case JS_TAG_BOOL:
        return "a boolean";
    case JS_TAG_INT:
    case JS_TAG_FLOAT64:
        return "a number";
    case JS_TAG_BIG_INT:
    case JS_TAG_SHORT_BIG_INT:
        return "a BigInt";
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        return "a string";
    case JS_TAG_SYMBOL:
        return "a symbol";
    case JS_TAG_OBJECT:
        if (JS_IsPromise(value))
            return "a promise, await it first";
        return JS_VALUE_GET_OBJ(value)->class_id == JS_CLASS_ARRAY ? "an array"
               : JS_IsFunction(context, value)                     ? "a function"
                                                                   : "an object";
    default:
        return "undefined";
    }
}

static JSValue reject_no_handle(JSValue promise, int argc, JSValueConst *argv)
{
    if (argc > 1)
        JS_ThrowTypeError(context, "reveal takes one handle; got %d arguments", argc);
    else
        JS_ThrowTypeError(context, "reveal takes one handle; got %s", argc ? kind_in_words(argv[0]) : "nothing");
    return reject_with_exception(promise);
}

static JSValue reveal_call(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                           JSValueConst *data)
{
    struct encoder e = { .mode = ENCODE_STRICT, .max_bytes = limits.argument_bytes, .nodes_left = limits.nodes };
    JSValue promise = new_promise();

    (void)ctx;
    (void)this_value;
    (void)magic;
    if (JS_IsException(promise))
        return promise;
    if ((argc != 1 && !is_array_callback(argc, argv)) || !JS_IsObject(argv[0]) || !handle_of(JS_VALUE_GET_OBJ(argv[0])))
        return reject_no_handle(promise, argc, argv);
    if (!encode_value(&e, argv[0], 0, NULL))
        promise = hand_over(promise, data[0], &e);
    else if (e.too_large)
        promise = reject_too_large(promise, data[0], &e);
    else
        promise = reject_with_exception(promise);
    encoder_free(&e);
    return promise;
}
