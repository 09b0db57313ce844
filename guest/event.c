/* Event and CustomEvent, as much as programs without a document need: no phases, no bubbling. */

struct event {
    JSValue type, target, detail;
    double time;
    bool bubbles, cancelable, composed;
    bool prevented, stopped, dispatched, passive;
};

static JSClassID event_class, custom_event_class;

static struct event *event_data(JSValueConst value)
{
    struct event *event = JS_GetOpaque(value, event_class);

    return event ? event : JS_GetOpaque(value, custom_event_class);
}

static struct event *event_of(JSValueConst value)
{
    struct event *event = event_data(value);

    if (!event)
        JS_ThrowTypeError(context, "Event object expected");
    return event;
}

static void event_finalizer(JSRuntime *rt, JSValueConst value)
{
    struct event *event = event_data(value);

    if (event) {
        JS_FreeValueRT(rt, event->type);
        JS_FreeValueRT(rt, event->target);
        JS_FreeValueRT(rt, event->detail);
        js_free_rt(rt, event);
    }
}

static void event_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    struct event *event = event_data(value);

    if (event) {
        JS_MarkValue(rt, event->target, mark);
        JS_MarkValue(rt, event->detail, mark);
    }
}

/* Takes the type, also when it fails. */
static JSValue event_new(JSValueConst new_target, JSClassID id, JSValue type)
{
    struct event *event;
    JSValue object;

    if (JS_IsException(type))
        return type;
    event = js_mallocz(context, sizeof(*event));
    if (!event) {
        JS_FreeValue(context, type);
        return JS_EXCEPTION;
    }
    event->type = type;
    event->target = JS_NULL;
    event->detail = JS_NULL;
    event->time = import_now(TIME_MONOTONIC);
    object = new_object_of(new_target, id, event);
    if (JS_IsException(object)) {
        JS_FreeValue(context, type);
        js_free(context, event);
    }
    return object;
}

static int event_options(struct event *event, JSValueConst options, bool has_detail)
{
    int bubbles, cancelable, composed;

    if (!JS_IsObject(options))
        return 0;
    if ((bubbles = option_is_set(options, "bubbles")) < 0 || (cancelable = option_is_set(options, "cancelable")) < 0 ||
        (composed = option_is_set(options, "composed")) < 0)
        return -1;
    event->bubbles = bubbles;
    event->cancelable = cancelable;
    event->composed = composed;
    if (has_detail) {
        JSValue detail = JS_GetPropertyStr(context, options, "detail");

        if (JS_IsException(detail))
            return -1;
        set_value(context, &event->detail, JS_IsUndefined(detail) ? JS_NULL : detail);
    }
    return 0;
}

static JSValue event_construct(JSValueConst new_target, int argc, JSValueConst *argv, JSClassID id, const char *name)
{
    JSValue object;

    if (JS_IsUndefined(new_target))
        return wants_new(name);
    if (argc < 1)
        return JS_ThrowTypeError(context, "%s takes a type", name);
    object = event_new(new_target, id, usv_string(argv[0]));
    if (JS_IsException(object) || argc < 2 || !event_options(event_data(object), argv[1], id == custom_event_class))
        return object;
    JS_FreeValue(context, object);
    return JS_EXCEPTION;
}

static JSValue event_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    (void)ctx;
    return event_construct(new_target, argc, argv, event_class, "Event");
}

static JSValue custom_event_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    (void)ctx;
    return event_construct(new_target, argc, argv, custom_event_class, "CustomEvent");
}

enum {
    EVENT_TYPE,
    EVENT_TARGET,
    EVENT_CURRENT_TARGET,
    EVENT_DETAIL,
    EVENT_TIME,
    EVENT_BUBBLES,
    EVENT_CANCELABLE,
    EVENT_COMPOSED,
    EVENT_PREVENTED,
    EVENT_PHASE,
};

static JSValue event_get(JSContext *ctx, JSValueConst this_value, int what)
{
    struct event *event = event_of(this_value);

    if (!event)
        return JS_EXCEPTION;
    switch (what) {
    case EVENT_TYPE:
        return js_dup(event->type);
    case EVENT_TARGET:
        return js_dup(event->target);
    case EVENT_CURRENT_TARGET:
        return event->dispatched ? js_dup(event->target) : JS_NULL;
    case EVENT_DETAIL:
        return js_dup(event->detail);
    case EVENT_TIME:
        return js_number(event->time);
    case EVENT_BUBBLES:
        return js_bool(event->bubbles);
    case EVENT_CANCELABLE:
        return js_bool(event->cancelable);
    case EVENT_COMPOSED:
        return js_bool(event->composed);
    case EVENT_PREVENTED:
        return js_bool(event->prevented);
    default:
        return JS_NewInt32(ctx, event->dispatched ? 2 : 0);
    }
}

enum { EVENT_PREVENT, EVENT_STOP, EVENT_STOP_NOW };

static JSValue event_act(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int what)
{
    struct event *event = event_of(this_value);

    (void)ctx;
    (void)argc;
    (void)argv;
    if (!event)
        return JS_EXCEPTION;
    if (what == EVENT_PREVENT)
        event->prevented = event->prevented || (event->cancelable && !event->passive);
    else if (what == EVENT_STOP_NOW)
        event->stopped = true;
    return JS_UNDEFINED;
}
