/* Clock, random and timers. Time and random come from the host at each use, so nothing of them is baked into the
 * baseline or shared by two restores of one image. Due times live here and travel with the heap.
 */

/* wasi-libc asks for these; all answers but the clock's are constants. */
int32_t __imported_wasi_snapshot_preview1_clock_time_get(int32_t clock, int64_t precision, int32_t out)
{
    double now;

    (void)precision;
    now = import_now(clock == 1 ? TIME_MONOTONIC : TIME_WALL);
    *(uint64_t *)out = (uint64_t)(now * 1e6);
    return 0;
}

int32_t __imported_wasi_snapshot_preview1_fd_write(int32_t fd, int32_t vectors, int32_t count, int32_t out)
{
    const uint32_t *lengths = (const uint32_t *)vectors;
    uint32_t total = 0;

    (void)fd;
    for (int32_t i = 0; i < count; i++)
        total += lengths[2 * i + 1];
    *(uint32_t *)out = total;
    return 0;
}

int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t fd, int64_t offset, int32_t whence, int32_t out)
{
    (void)fd;
    (void)offset;
    (void)whence;
    (void)out;
    return 70; /* ESPIPE */
}

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t fd)
{
    (void)fd;
    return 0;
}

int32_t __imported_wasi_snapshot_preview1_fd_fdstat_get(int32_t fd, int32_t out)
{
    (void)fd;
    (void)out;
    return 8; /* EBADF */
}

int32_t __imported_wasi_snapshot_preview1_environ_sizes_get(int32_t count, int32_t size)
{
    *(uint32_t *)count = 0;
    *(uint32_t *)size = 0;
    return 0;
}

int32_t __imported_wasi_snapshot_preview1_environ_get(int32_t list, int32_t buffer)
{
    (void)list;
    (void)buffer;
    return 0;
}

_Noreturn void __imported_wasi_snapshot_preview1_proc_exit(int32_t status)
{
    (void)status;
    __builtin_trap();
}

static JSValue math_random(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    uint64_t bits;

    (void)ctx;
    (void)this_value;
    (void)argc;
    (void)argv;
    import_random(&bits, sizeof(bits));
    return js_float64((double)(bits >> 11) * 0x1.0p-53);
}

static JSValue performance_now(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    (void)ctx;
    (void)this_value;
    (void)argc;
    (void)argv;
    return js_number(import_now(TIME_MONOTONIC));
}

static JSValue performance_origin(JSContext *ctx, JSValueConst this_value)
{
    (void)ctx;
    (void)this_value;
    return js_number(import_now(TIME_WALL) - import_now(TIME_MONOTONIC));
}

static const JSCFunctionListEntry performance_members[] = {
    JS_CFUNC_DEF("now", 0, performance_now),
    JS_CGETSET_DEF("timeOrigin", performance_origin, NULL),
};

struct timer {
    struct list_head link; /* sorted by due time, then by age */
    uint32_t id;
    double due;
    double interval; /* 0 for a one-shot timer */
    bool loose;      /* does not keep the program open */
    JSValue function;
    int argc;
    JSValue argv[];
};

static struct list_head timers;
static uint32_t last_timer;

static void timer_insert(struct timer *timer)
{
    struct list_head *place = timers.prev;

    while (place != &timers && list_entry(place, struct timer, link)->due > timer->due)
        place = place->prev;
    list_add(&timer->link, place);
}

static void timer_free(struct timer *timer)
{
    JS_FreeValue(context, timer->function);
    for (int i = 0; i < timer->argc; i++)
        JS_FreeValue(context, timer->argv[i]);
    js_free(context, timer);
}

/* Which of the functions that set a timer. */
enum { TIMER_ONCE, TIMER_REPEATS, TIMER_NEXT };

static const char *const timer_names[] = { "setTimeout", "setInterval", "setImmediate" };

/* A timer due after `delay` milliseconds; it is in the list. */
static struct timer *timer_add(JSValueConst function, double delay, int argc, JSValueConst *argv)
{
    struct timer *timer = js_malloc(context, sizeof(*timer) + (size_t)argc * sizeof(JSValue));

    if (!timer)
        return NULL;
    timer->id = ++last_timer;
    timer->interval = 0;
    timer->loose = false;
    timer->due = import_now(TIME_HOST) + delay;
    timer->function = js_dup(function);
    timer->argc = argc;
    for (int i = 0; i < argc; i++)
        timer->argv[i] = js_dup(argv[i]);
    timer_insert(timer);
    return timer;
}

#define TIMER_MAX 8.64e15 /* milliseconds */

static int timer_add_loose(JSValueConst function, double delay)
{
    struct timer *timer = timer_add(function, floor(fmin(delay, TIMER_MAX)), 0, NULL);

    if (!timer)
        return -1;
    timer->loose = true;
    return 0;
}

static JSValue timer_set(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int kind)
{
    struct timer *timer;
    double delay = 0;
    int first = kind == TIMER_NEXT ? 1 : 2;

    (void)this_value;
    if (!JS_IsFunction(ctx, argv[0]))
        return JS_ThrowTypeError(ctx, "%s: the first argument is not a function", timer_names[kind]);
    if (kind != TIMER_NEXT && argc > 1 && JS_ToFloat64(ctx, &delay, argv[1]))
        return JS_EXCEPTION;
    delay = delay > 0 ? floor(fmin(delay, TIMER_MAX)) : 0;
    if (kind == TIMER_REPEATS)
        delay = fmax(delay, 1);
    timer = timer_add(argv[0], delay, argc > first ? argc - first : 0, argv + first);
    if (!timer)
        return JS_EXCEPTION;
    if (kind == TIMER_REPEATS)
        timer->interval = delay;
    return JS_NewUint32(ctx, timer->id);
}

static JSValue timer_clear(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct list_head *at, *next;
    uint32_t id;

    (void)this_value;
    (void)argc;
    if (JS_VALUE_GET_TAG(argv[0]) == JS_TAG_OBJECT || JS_ToUint32(ctx, &id, argv[0]))
        return JS_UNDEFINED;
    list_for_each_safe(at, next, &timers) {
        struct timer *timer = list_entry(at, struct timer, link);
        if (timer->id == id) {
            list_del(&timer->link);
            timer_free(timer);
            break;
        }
    }
    return JS_UNDEFINED;
}

static const JSCFunctionListEntry timer_functions[] = {
    JS_CFUNC_MAGIC_DEF("setTimeout", 2, timer_set, TIMER_ONCE),
    JS_CFUNC_MAGIC_DEF("setInterval", 2, timer_set, TIMER_REPEATS),
    JS_CFUNC_MAGIC_DEF("setImmediate", 1, timer_set, TIMER_NEXT),
    JS_CFUNC_DEF("clearTimeout", 1, timer_clear),
    JS_CFUNC_DEF("clearInterval", 1, timer_clear),
    JS_CFUNC_DEF("clearImmediate", 1, timer_clear),
};

/* Fires the first timer that is due, if any. A repeating one is put back first, so that it may clear itself. */
static bool timer_fire(void)
{
    struct timer *timer;
    JSValue function, result, *argv = NULL;
    double now;
    int argc;

    if (list_empty(&timers))
        return false;
    timer = list_entry(timers.next, struct timer, link);
    now = import_now(TIME_HOST);
    if (timer->due > now)
        return false;
    list_del(&timer->link);
    argc = timer->argc;
    if (argc) {
        argv = js_malloc(context, (size_t)argc * sizeof(JSValue));
        if (!argv) {
            drop_exception();
            argc = 0;
        }
        for (int i = 0; i < argc; i++)
            argv[i] = js_dup(timer->argv[i]);
    }
    function = js_dup(timer->function);
    if (timer->interval > 0) {
        timer->due = now + timer->interval;
        timer_insert(timer);
    } else {
        timer_free(timer);
    }
    result = JS_Call(context, function, JS_UNDEFINED, argc, vc(argv));
    if (JS_IsException(result))
        failure_add(FAILURE_TIMER);
    JS_FreeValue(context, result);
    JS_FreeValue(context, function);
    for (int i = 0; i < argc; i++)
        JS_FreeValue(context, argv[i]);
    js_free(context, argv);
    return true;
}

static void timers_clear(void)
{
    struct list_head *at, *next;

    list_for_each_safe(at, next, &timers) {
        struct timer *timer = list_entry(at, struct timer, link);
        list_del(&timer->link);
        timer_free(timer);
    }
}

static void timers_report(void)
{
    struct list_head *at;

    board.timers = 0;
    board.intervals = 0;
    board.next_due = INFINITY;
    list_for_each(at, &timers) {
        struct timer *timer = list_entry(at, struct timer, link);
        if (timer->interval > 0)
            board.intervals++;
        else if (!timer->loose)
            board.timers++;
    }
    if (!list_empty(&timers))
        board.next_due = list_entry(timers.next, struct timer, link)->due;
}

static int clock_init(JSValueConst global)
{
    JSValue math = JS_GetPropertyStr(context, global, "Math");
    JSValue performance = JS_NewObject(context); /* the engine's own has its time origin baked in */

    init_list_head(&timers);
    JS_DefinePropertyValueStr(context, math, "random", JS_NewCFunction(context, math_random, "random", 0),
                              JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_SetPropertyFunctionList(context, performance, performance_members, countof(performance_members));
    JS_DefinePropertyValueStr(context, global, "performance", performance, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_SetPropertyFunctionList(context, global, timer_functions, countof(timer_functions));
    JS_FreeValue(context, math);
    return 0;
}
