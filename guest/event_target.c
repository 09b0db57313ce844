/* EventTarget, its listeners, and the dispatch. A listener that throws does not keep the others from running; the error
 * fails the program as one in a microtask does.
 */

struct listener {
    JSAtom type;
    JSValue callback;
    bool once, passive, capture;
    bool is_handler; /* the value of an `on…` property */
};

struct target {
    struct listener *list;
    uint32_t count;
    uint32_t capacity;
    bool is_signal; /* what follows is for an AbortSignal */
    bool aborted;
    JSValue reason;
    struct sequence dependents;
};

static JSClassID target_class, signal_class;

/* ---- listeners ---- */

static struct target *target_data(JSValueConst value)
{
    struct target *target = JS_GetOpaque(value, target_class);

    return target ? target : JS_GetOpaque(value, signal_class);
}

static struct target *target_of(JSValueConst value)
{
    struct target *target = target_data(value);

    if (!target)
        JS_ThrowTypeError(context, "EventTarget object expected");
    return target;
}

static void target_finalizer(JSRuntime *rt, JSValueConst value)
{
    struct target *target = target_data(value);

    if (!target)
        return;
    for (uint32_t i = 0; i < target->count; i++) {
        JS_FreeAtomRT(rt, target->list[i].type);
        JS_FreeValueRT(rt, target->list[i].callback);
    }
    js_free_rt(rt, target->list);
    JS_FreeValueRT(rt, target->reason);
    for (uint32_t i = 0; i < target->dependents.count; i++)
        JS_FreeValueRT(rt, target->dependents.items[i]);
    js_free_rt(rt, target->dependents.items);
    js_free_rt(rt, target);
}

static void target_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    struct target *target = target_data(value);

    if (!target)
        return;
    for (uint32_t i = 0; i < target->count; i++)
        JS_MarkValue(rt, target->list[i].callback, mark);
    JS_MarkValue(rt, target->reason, mark);
    for (uint32_t i = 0; i < target->dependents.count; i++)
        JS_MarkValue(rt, target->dependents.items[i], mark);
}

static JSValue target_new(JSValueConst new_target, JSClassID id)
{
    struct target *target = js_mallocz(context, sizeof(*target));
    JSValue object;

    if (!target)
        return JS_EXCEPTION;
    target->is_signal = id == signal_class;
    target->reason = JS_UNDEFINED;
    object = new_object_of(new_target, id, target);
    if (JS_IsException(object))
        js_free(context, target);
    return object;
}

static JSValue target_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    (void)ctx;
    (void)argc;
    (void)argv;
    return JS_IsUndefined(new_target) ? wants_new("EventTarget") : target_new(new_target, target_class);
}

static bool same_object(JSValueConst a, JSValueConst b)
{
    return JS_IsObject(a) && JS_IsObject(b) && JS_VALUE_GET_OBJ(a) == JS_VALUE_GET_OBJ(b);
}

/* The place of a listener, or `count`. */
static uint32_t listener_find(const struct target *target, JSAtom type, JSValueConst callback, bool capture)
{
    uint32_t i = 0;

    while (i < target->count &&
           (target->list[i].is_handler || target->list[i].type != type || target->list[i].capture != capture ||
            !same_object(target->list[i].callback, callback)))
        i++;
    return i;
}

static uint32_t handler_find(const struct target *target, JSAtom type)
{
    uint32_t i = 0;

    while (i < target->count && !(target->list[i].is_handler && target->list[i].type == type))
        i++;
    return i;
}

static void listener_remove(struct target *target, uint32_t at)
{
    struct listener gone;

    if (at >= target->count)
        return;
    gone = target->list[at];
    memmove(&target->list[at], &target->list[at + 1], (target->count - at - 1) * sizeof(gone));
    target->count--;
    JS_FreeAtom(context, gone.type);
    JS_FreeValue(context, gone.callback);
}

/* Keeps a listener of its own; type and callback stay the caller's. */
static int listener_add(struct target *target, const struct listener *listener)
{
    if (target->count == target->capacity) {
        uint32_t capacity = target->capacity ? target->capacity * 2 : 2;
        struct listener *moved = js_realloc(context, target->list, capacity * sizeof(*moved));
        if (!moved)
            return -1;
        target->list = moved;
        target->capacity = capacity;
    }
    target->list[target->count] = *listener;
    JS_DupAtom(context, listener->type);
    js_dup(listener->callback);
    target->count++;
    return 0;
}

/* When the signal of a listener's options is aborted, the listener goes. */
static JSValue listener_withdraw(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                                 JSValueConst *data)
{
    struct target *target = target_data(data[0]);
    JSAtom type = JS_ValueToAtom(ctx, data[1]);

    (void)this_value;
    (void)argc;
    (void)argv;
    if (target && type != JS_ATOM_NULL)
        listener_remove(target, listener_find(target, type, data[2], magic));
    JS_FreeAtom(ctx, type);
    return JS_UNDEFINED;
}

static int listener_follow(JSValueConst this_value, const struct listener *listener, struct target *signal)
{
    JSValue type = JS_AtomToString(context, listener->type), callback;
    JSValueConst data[3] = { this_value, type, listener->callback };
    struct listener withdraw = { .once = true };
    int status;

    callback = JS_NewCFunctionData(context, listener_withdraw, 0, listener->capture, 3, data);
    withdraw.type = JS_NewAtom(context, "abort");
    withdraw.callback = callback;
    status = JS_IsException(type) || JS_IsException(callback) || withdraw.type == JS_ATOM_NULL
                 ? -1
                 : listener_add(signal, &withdraw);
    JS_FreeAtom(context, withdraw.type);
    JS_FreeValue(context, callback);
    JS_FreeValue(context, type);
    return status;
}

/* Reads the options of a listener; `*signal` is that of the options, undefined for none. */
static int listener_options(struct listener *listener, JSValueConst options, JSValue *signal)
{
    int once, passive, capture;

    if (!JS_IsObject(options)) {
        listener->capture = JS_ToBool(context, options);
        return 0;
    }
    if ((capture = option_is_set(options, "capture")) < 0 || (once = option_is_set(options, "once")) < 0 ||
        (passive = option_is_set(options, "passive")) < 0)
        return -1;
    listener->once = once;
    listener->passive = passive;
    listener->capture = capture;
    *signal = JS_GetPropertyStr(context, options, "signal");
    if (JS_IsException(*signal))
        return -1;
    if (!JS_IsUndefined(*signal) && !JS_GetOpaque(*signal, signal_class)) {
        JS_ThrowTypeError(context, "the option signal is not an AbortSignal");
        return -1;
    }
    return 0;
}

static int listener_check(int argc, JSValueConst *argv)
{
    if (argc >= 2 && (JS_IsObject(argv[1]) || JS_IsNull(argv[1]) || JS_IsUndefined(argv[1])))
        return 0;
    JS_ThrowTypeError(context, "a type and a listener are expected");
    return -1;
}

static JSValue target_add(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct target *target = target_of(this_value), *signal_data;
    struct listener listener = { .callback = JS_UNDEFINED };
    JSValue signal = JS_UNDEFINED;
    int status = 0;

    if (!target || listener_check(argc, argv))
        return JS_EXCEPTION;
    if (!JS_IsObject(argv[1]))
        return JS_UNDEFINED;
    listener.callback = argv[1];
    listener.type = JS_ValueToAtom(ctx, argv[0]);
    if (listener.type == JS_ATOM_NULL)
        return JS_EXCEPTION;
    status = listener_options(&listener, argc > 2 ? argv[2] : JS_UNDEFINED, &signal);
    signal_data = status ? NULL : JS_GetOpaque(signal, signal_class);
    if (!status && !(signal_data && signal_data->aborted) &&
        listener_find(target, listener.type, listener.callback, listener.capture) == target->count) {
        status = listener_add(target, &listener);
        if (!status && signal_data)
            status = listener_follow(this_value, &listener, signal_data);
    }
    JS_FreeAtom(ctx, listener.type);
    JS_FreeValue(ctx, signal);
    return status ? JS_EXCEPTION : JS_UNDEFINED;
}

static JSValue target_remove(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct target *target = target_of(this_value);
    JSValueConst options = argc > 2 ? argv[2] : JS_UNDEFINED;
    int capture;
    JSAtom type;

    if (!target || listener_check(argc, argv))
        return JS_EXCEPTION;
    capture = JS_IsObject(options) ? option_is_set(options, "capture") : JS_ToBool(ctx, options);
    type = capture < 0 ? JS_ATOM_NULL : JS_ValueToAtom(ctx, argv[0]);
    if (type == JS_ATOM_NULL)
        return JS_EXCEPTION;
    listener_remove(target, listener_find(target, type, argv[1], capture));
    JS_FreeAtom(ctx, type);
    return JS_UNDEFINED;
}

/* ---- dispatch ---- */

/* Calls one listener. An error of its own is noted, a stop ends the dispatch with an exception. */
static int listener_call(JSValueConst callback, JSValueConst this_value, JSValueConst event)
{
    JSValue result;

    if (JS_IsFunction(context, callback)) {
        result = JS_Call(context, callback, this_value, 1, &event);
    } else {
        JSValue method = JS_GetPropertyStr(context, callback, "handleEvent");

        result = JS_IsException(method) ? JS_EXCEPTION : JS_Call(context, method, callback, 1, &event);
        JS_FreeValue(context, method);
    }
    if (JS_IsException(result)) {
        if (JS_IsUncatchableError(runtime->current_exception) || board.stop)
            return -1;
        failure_add(FAILURE_JOB);
    }
    JS_FreeValue(context, result);
    return 0;
}

/* Whether the listener is still there, and, for one that is called once, no longer. */
static bool listener_takes_part(struct target *target, const struct listener *listener)
{
    uint32_t at = listener->is_handler ? handler_find(target, listener->type)
                                       : listener_find(target, listener->type, listener->callback, listener->capture);

    if (at == target->count)
        return false;
    if (listener->once)
        listener_remove(target, at);
    return true;
}

static int target_dispatch(JSValueConst this_value, JSValueConst event_value)
{
    struct target *target = target_data(this_value), now = { 0 };
    struct event *event = event_data(event_value);
    JSAtom type = JS_ValueToAtom(context, event->type);
    int status = type == JS_ATOM_NULL ? -1 : 0;

    /* Those that are there now; what listeners add or remove meanwhile shows in the target itself. */
    for (uint32_t i = 0; !status && i < target->count; i++)
        if (target->list[i].type == type)
            status = listener_add(&now, &target->list[i]);
    set_value(context, &event->target, js_dup(this_value));
    event->dispatched = true;
    for (uint32_t i = 0; !status && i < now.count && !event->stopped; i++) {
        if (!listener_takes_part(target, &now.list[i]))
            continue;
        event->passive = now.list[i].passive;
        status = listener_call(now.list[i].callback, this_value, event_value);
    }
    event->dispatched = false;
    event->stopped = false;
    event->passive = false;
    while (now.count)
        listener_remove(&now, now.count - 1);
    js_free(context, now.list);
    JS_FreeAtom(context, type);
    return status;
}

static JSValue target_dispatch_event(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct event *event;

    if (!target_of(this_value))
        return JS_EXCEPTION;
    event = event_of(argc > 0 ? argv[0] : JS_UNDEFINED);
    if (!event)
        return JS_EXCEPTION;
    if (event->dispatched)
        return JS_ThrowDOMException(ctx, "InvalidStateError", "the event is already being dispatched");
    if (js_check_stack_overflow(runtime, 0))
        return JS_ThrowStackOverflow(ctx);
    return target_dispatch(this_value, argv[0]) ? JS_EXCEPTION : js_bool(!event->prevented);
}

#define EVENT_GETTER(name, what) JS_CGETSET_MAGIC_DEF(name, event_get, NULL, what)

static const JSCFunctionListEntry event_members[] = {
    EVENT_GETTER("type", EVENT_TYPE),
    EVENT_GETTER("target", EVENT_TARGET),
    EVENT_GETTER("srcElement", EVENT_TARGET),
    EVENT_GETTER("currentTarget", EVENT_CURRENT_TARGET),
    EVENT_GETTER("timeStamp", EVENT_TIME),
    EVENT_GETTER("bubbles", EVENT_BUBBLES),
    EVENT_GETTER("cancelable", EVENT_CANCELABLE),
    EVENT_GETTER("composed", EVENT_COMPOSED),
    EVENT_GETTER("defaultPrevented", EVENT_PREVENTED),
    EVENT_GETTER("eventPhase", EVENT_PHASE),
    JS_CFUNC_MAGIC_DEF("preventDefault", 0, event_act, EVENT_PREVENT),
    JS_CFUNC_MAGIC_DEF("stopPropagation", 0, event_act, EVENT_STOP),
    JS_CFUNC_MAGIC_DEF("stopImmediatePropagation", 0, event_act, EVENT_STOP_NOW),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "Event", JS_PROP_CONFIGURABLE),
};

static const JSCFunctionListEntry custom_event_members[] = {
    EVENT_GETTER("detail", EVENT_DETAIL),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "CustomEvent", JS_PROP_CONFIGURABLE),
};

static const JSCFunctionListEntry target_members[] = {
    JS_CFUNC_DEF("addEventListener", 2, target_add),
    JS_CFUNC_DEF("removeEventListener", 2, target_remove),
    JS_CFUNC_DEF("dispatchEvent", 1, target_dispatch_event),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "EventTarget", JS_PROP_CONFIGURABLE),
};

static int event_init(void)
{
    JSValue parent;
    int status;

    event_class = new_class("Event", event_finalizer, event_mark);
    custom_event_class = new_class("CustomEvent", event_finalizer, event_mark);
    target_class = new_class("EventTarget", target_finalizer, target_mark);
    if (!event_class || !custom_event_class || !target_class)
        return -1;
    if (define_class(event_class, "Event", event_constructor, 1, JS_UNDEFINED, event_members, countof(event_members)) ||
        define_class(target_class, "EventTarget", target_constructor, 0, JS_UNDEFINED, target_members,
                     countof(target_members)))
        return -1;
    parent = JS_GetPropertyStr(context, context->global_obj, "Event");
    status = define_class(custom_event_class, "CustomEvent", custom_event_constructor, 1, parent, custom_event_members,
                          countof(custom_event_members));
    JS_FreeValue(context, parent);
    return status;
}
