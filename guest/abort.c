/* AbortController and AbortSignal. A signal with a timeout fires while its program runs, but does not keep the program
 * open. What depends on a signal through `AbortSignal.any` is held by it until it is aborted.
 */

static JSClassID controller_class;

struct controller {
    JSValue signal;
};

static struct target *signal_of(JSValueConst value)
{
    return JS_GetOpaque2(context, value, signal_class);
}

static int signal_dispatch(JSValueConst signal)
{
    JSValue event;
    int status;

    if (target_data(signal)->count == 0)
        return 0;
    event = event_new(JS_UNDEFINED, event_class, JS_NewString(context, "abort"));
    if (JS_IsException(event))
        return -1;
    status = target_dispatch(signal, event);
    JS_FreeValue(context, event);
    return status;
}

static void signal_mark_aborted(struct target *target, JSValueConst reason)
{
    target->aborted = true;
    set_value(context, &target->reason, js_dup(reason));
}

/* Aborts a signal and all that depend on it, then tells their listeners, in that order. */
static int signal_abort(JSValueConst signal, JSValueConst reason)
{
    struct sequence aborted = { 0 };
    int status;

    if (target_data(signal)->aborted)
        return 0;
    signal_mark_aborted(target_data(signal), reason);
    status = sequence_add(&aborted, js_dup(signal));
    for (uint32_t i = 0; !status && i < aborted.count; i++) {
        struct sequence *dependents = &target_data(aborted.items[i])->dependents;

        for (uint32_t k = 0; !status && k < dependents->count; k++) {
            struct target *dependent = target_data(dependents->items[k]);

            if (dependent->aborted)
                continue;
            signal_mark_aborted(dependent, reason);
            status = sequence_add(&aborted, js_dup(dependents->items[k]));
        }
        sequence_free(dependents);
    }
    for (uint32_t i = 0; !status && i < aborted.count; i++)
        status = signal_dispatch(aborted.items[i]);
    sequence_free(&aborted);
    return status;
}

/* The reason given, or an error of that name. */
static JSValue abort_reason(int argc, JSValueConst *argv)
{
    if (argc > 0 && !JS_IsUndefined(argv[0]))
        return js_dup(argv[0]);
    return new_dom_exception("AbortError", "This operation was aborted");
}

static JSValue signal_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    (void)new_target;
    (void)argc;
    (void)argv;
    return JS_ThrowTypeError(ctx, "Illegal constructor: a signal comes from an AbortController");
}

static JSValue signal_static_abort(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    JSValue signal = target_new(JS_UNDEFINED, signal_class), reason;

    (void)this_value;
    if (JS_IsException(signal))
        return signal;
    reason = abort_reason(argc, argv);
    signal_mark_aborted(target_data(signal), reason);
    JS_FreeValue(ctx, reason);
    return signal;
}

static JSValue signal_time_is_over(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                                   JSValueConst *data)
{
    JSValue reason = new_dom_exception("TimeoutError", "The operation was aborted due to timeout");
    int status = signal_abort(data[0], reason);

    (void)this_value;
    (void)argc;
    (void)argv;
    (void)magic;
    JS_FreeValue(ctx, reason);
    return status ? JS_EXCEPTION : JS_UNDEFINED;
}

static JSValue signal_timeout(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    JSValue signal, function;
    double delay = NAN;
    int status;

    (void)this_value;
    if (argc < 1 || JS_ToFloat64(ctx, &delay, argv[0]))
        return argc < 1 ? JS_ThrowTypeError(ctx, "AbortSignal.timeout takes milliseconds") : JS_EXCEPTION;
    if (!(delay >= 0 && delay <= MAX_SAFE_INTEGER))
        return JS_ThrowRangeError(ctx, "AbortSignal.timeout: the milliseconds are out of range");
    signal = target_new(JS_UNDEFINED, signal_class);
    if (JS_IsException(signal))
        return signal;
    function = JS_NewCFunctionData(ctx, signal_time_is_over, 0, 0, 1, vc(&signal));
    status = JS_IsException(function) ? -1 : timer_add_loose(function, delay);
    JS_FreeValue(ctx, function);
    if (!status)
        return signal;
    JS_FreeValue(ctx, signal);
    return JS_EXCEPTION;
}

static int signal_follow(JSValueConst signal, JSValueConst source)
{
    struct target *target = target_data(source);

    if (target->aborted) {
        signal_mark_aborted(target_data(signal), target->reason);
        return 0;
    }
    return sequence_add(&target->dependents, js_dup(signal));
}

static JSValue signal_any(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct sequence sources = { 0 };
    JSValue signal = JS_EXCEPTION;
    int status = sequence_of(&sources, argc > 0 ? argv[0] : JS_UNDEFINED);

    (void)this_value;
    for (uint32_t i = 0; !status && i < sources.count; i++)
        if (!JS_GetOpaque(sources.items[i], signal_class)) {
            JS_ThrowTypeError(ctx, "AbortSignal.any takes a list of signals");
            status = -1;
        }
    if (!status) {
        signal = target_new(JS_UNDEFINED, signal_class);
        status = JS_IsException(signal) ? -1 : 0;
    }
    for (uint32_t i = 0; !status && i < sources.count && !target_data(signal)->aborted; i++)
        status = signal_follow(signal, sources.items[i]);
    sequence_free(&sources);
    if (!status)
        return signal;
    JS_FreeValue(ctx, signal);
    return JS_EXCEPTION;
}

static JSValue signal_aborted(JSContext *ctx, JSValueConst this_value)
{
    struct target *target = signal_of(this_value);

    (void)ctx;
    return target ? js_bool(target->aborted) : JS_EXCEPTION;
}

static JSValue signal_reason(JSContext *ctx, JSValueConst this_value)
{
    struct target *target = signal_of(this_value);

    (void)ctx;
    return target ? js_dup(target->reason) : JS_EXCEPTION;
}

static JSValue signal_throw_if_aborted(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct target *target = signal_of(this_value);

    (void)argc;
    (void)argv;
    if (!target)
        return JS_EXCEPTION;
    return target->aborted ? JS_Throw(ctx, js_dup(target->reason)) : JS_UNDEFINED;
}

static JSValue signal_get_handler(JSContext *ctx, JSValueConst this_value)
{
    struct target *target = signal_of(this_value);
    JSAtom type;
    uint32_t at;

    if (!target)
        return JS_EXCEPTION;
    type = JS_NewAtom(ctx, "abort");
    at = handler_find(target, type);
    JS_FreeAtom(ctx, type);
    return at < target->count ? js_dup(target->list[at].callback) : JS_NULL;
}

static JSValue signal_set_handler(JSContext *ctx, JSValueConst this_value, JSValueConst value)
{
    struct target *target = signal_of(this_value);
    struct listener listener = { .callback = value, .is_handler = true };
    int status = 0;
    uint32_t at;

    if (!target)
        return JS_EXCEPTION;
    listener.type = JS_NewAtom(ctx, "abort");
    at = handler_find(target, listener.type);
    if (!JS_IsObject(value))
        listener_remove(target, at);
    else if (at < target->count)
        set_value(ctx, &target->list[at].callback, js_dup(value));
    else
        status = listener_add(target, &listener);
    JS_FreeAtom(ctx, listener.type);
    return status ? JS_EXCEPTION : JS_UNDEFINED;
}

/* ---- the controller ---- */

static void controller_finalizer(JSRuntime *rt, JSValueConst value)
{
    struct controller *controller = JS_GetOpaque(value, controller_class);

    if (controller) {
        JS_FreeValueRT(rt, controller->signal);
        js_free_rt(rt, controller);
    }
}

static void controller_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    struct controller *controller = JS_GetOpaque(value, controller_class);

    if (controller)
        JS_MarkValue(rt, controller->signal, mark);
}

static JSValue controller_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    struct controller *controller;
    JSValue object;

    (void)argc;
    (void)argv;
    if (JS_IsUndefined(new_target))
        return wants_new("AbortController");
    controller = js_mallocz(ctx, sizeof(*controller));
    if (!controller)
        return JS_EXCEPTION;
    controller->signal = target_new(JS_UNDEFINED, signal_class);
    object = JS_IsException(controller->signal) ? JS_EXCEPTION
                                                : new_object_of(new_target, controller_class, controller);
    if (JS_IsException(object)) {
        JS_FreeValue(ctx, controller->signal);
        js_free(ctx, controller);
    }
    return object;
}

static JSValue controller_signal(JSContext *ctx, JSValueConst this_value)
{
    struct controller *controller = JS_GetOpaque2(ctx, this_value, controller_class);

    return controller ? js_dup(controller->signal) : JS_EXCEPTION;
}

static JSValue controller_abort(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct controller *controller = JS_GetOpaque2(ctx, this_value, controller_class);
    JSValue reason;
    int status;

    if (!controller)
        return JS_EXCEPTION;
    if (js_check_stack_overflow(runtime, 0))
        return JS_ThrowStackOverflow(ctx);
    reason = abort_reason(argc, argv);
    status = signal_abort(controller->signal, reason);
    JS_FreeValue(ctx, reason);
    return status ? JS_EXCEPTION : JS_UNDEFINED;
}

static const JSCFunctionListEntry signal_members[] = {
    JS_CGETSET_DEF("aborted", signal_aborted, NULL),
    JS_CGETSET_DEF("reason", signal_reason, NULL),
    JS_CGETSET_DEF("onabort", signal_get_handler, signal_set_handler),
    JS_CFUNC_DEF("throwIfAborted", 0, signal_throw_if_aborted),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "AbortSignal", JS_PROP_CONFIGURABLE),
};

static const JSCFunctionListEntry signal_functions[] = {
    JS_CFUNC_DEF("abort", 0, signal_static_abort),
    JS_CFUNC_DEF("timeout", 1, signal_timeout),
    JS_CFUNC_DEF("any", 1, signal_any),
};

static const JSCFunctionListEntry controller_members[] = {
    JS_CGETSET_DEF("signal", controller_signal, NULL),
    JS_CFUNC_DEF("abort", 0, controller_abort),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "AbortController", JS_PROP_CONFIGURABLE),
};

static int abort_init(void)
{
    JSValue parent, constructor;

    signal_class = new_class("AbortSignal", target_finalizer, target_mark);
    controller_class = new_class("AbortController", controller_finalizer, controller_mark);
    if (!signal_class || !controller_class)
        return -1;
    parent = JS_GetPropertyStr(context, context->global_obj, "EventTarget");
    constructor = JS_NewCConstructor(context, (int)signal_class, "AbortSignal", signal_constructor, 0,
                                     JS_CFUNC_constructor_or_func, 0, parent, signal_functions,
                                     countof(signal_functions), signal_members, countof(signal_members), 0);
    JS_FreeValue(context, parent);
    if (JS_IsException(constructor))
        return -1;
    JS_FreeValue(context, constructor);
    return define_class(controller_class, "AbortController", controller_constructor, 0, JS_UNDEFINED,
                        controller_members, countof(controller_members));
}
