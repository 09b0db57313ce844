/* The global function `reveal`, where the host wants one: a call with a handle as its argument, made as those of tools are. */

static JSAtom reveal_atom;
static bool reveal_is_there;

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

/* Takes away what the global name stands for, however a program declared it. */
static int reveal_forget(void)
{
    JSObject *global = JS_VALUE_GET_OBJ(context->global_obj);
    JSShapeProperty *property = find_own_property1(global, reveal_atom);

    reveal_is_there = false;
    delete_property(context, JS_VALUE_GET_OBJ(context->global_var_obj), reveal_atom);
    if (!property)
        return 0;
    if (js_shape_prepare_update(context, global, &property))
        return -1;
    property->flags |= JS_PROP_CONFIGURABLE;
    return delete_property(context, global, reveal_atom) < 0 ? -1 : 0;
}

/* Fixed as `tools` is. `name` is that of its calls; without one there is no such function. */
static int reveal_publish(JSValueConst name)
{
    JSValue function;

    if (JS_IsUndefined(name))
        return reveal_is_there ? reveal_forget() : 0;
    if (reveal_atom == JS_ATOM_NULL)
        reveal_atom = JS_NewAtom(context, ABI_REVEAL_FUNCTION);
    if (reveal_atom == JS_ATOM_NULL || reveal_forget())
        return -1;
    function = new_fixed_function(reveal_call, name);
    if (JS_IsException(function))
        return -1;
    JS_FreeValue(context, js_object_seal(context, JS_UNDEFINED, 1, vc(&function), 1));
    if (JS_DefinePropertyValue(context, context->global_obj, reveal_atom, function, JS_PROP_ENUMERABLE) < 0)
        return -1;
    reveal_is_there = true;
    return 0;
}
