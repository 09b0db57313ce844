/* The methods of the console. None throws, whatever it is given; labels and tables are made into text here. */

/* ---- the methods that write more than their arguments ---- */

/* Puts `before` in front of a format, or in front of the other arguments. */
static int prefixed_write(int level, const char *before, int argc, JSValueConst *argv)
{
    JSValueConst *all = js_malloc(context, ((size_t)argc + 1) * sizeof(*all));
    struct bytes text = { 0 };
    bool joins = argc > 0 && JS_IsString(argv[0]);
    JSValue first = JS_UNDEFINED;
    int status = all ? 0 : -1;

    if (!status)
        status = bytes_text(&text, before) || (argc > 0 && bytes_add(&text, ':')) ? -1 : 0;
    if (!status && joins)
        status = bytes_add(&text, ' ') || bytes_of_value(&text, argv[0]) ? -1 : 0;
    if (!status) {
        first = string_of_bytes(&text);
        status = JS_IsException(first) ? -1 : 0;
    }
    if (!status) {
        int rest = argc - joins;

        all[0] = first;
        for (int i = 0; i < rest; i++)
            all[i + 1] = argv[i + joins];
        status = line_write(level, rest + 1, all);
    }
    JS_FreeValue(context, first);
    bytes_free(&text);
    js_free(context, all);
    return status;
}

static JSValue console_trace(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    (void)ctx;
    (void)this_value;
    return console_end(prefixed_write(LEVEL_ERROR, "Trace", argc, argv));
}

static JSValue console_assert(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    int more = argc > 0 ? 1 : 0;

    (void)this_value;
    if (argc > 0 && JS_ToBool(ctx, argv[0]))
        return JS_UNDEFINED;
    return console_end(prefixed_write(LEVEL_ERROR, "Assertion failed", argc - more, argv + more));
}

/* One value; a string in quotes, so that it is told from a line of text. */
static JSValue console_dir(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct bytes text = { 0 };
    JSValueConst value = argc > 0 ? argv[0] : JS_UNDEFINED;
    int status;

    (void)ctx;
    (void)this_value;
    if (!JS_IsString(value))
        return console_end(line_write(LEVEL_LOG, 1, &value));
    status = describe_string(&text, value, TEXT_QUOTED);
    if (!status)
        status = text_write(LEVEL_LOG, &text);
    bytes_free(&text);
    return console_end(status);
}

static JSValue console_table(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct bytes text = { 0 };
    int status;

    (void)ctx;
    (void)this_value;
    if (argc < 1 || !is_tabular(argv[0]))
        return console_end(line_write(LEVEL_LOG, argc < 1 ? 0 : 1, argv));
    status = table_write(&text, argv[0], argc > 1 ? argv[1] : JS_UNDEFINED);
    if (!status)
        status = text_write(LEVEL_LOG, &text);
    bytes_free(&text);
    return console_end(status);
}

static JSValue console_group(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    int status = argc > 0 ? line_write(LEVEL_LOG, argc, argv) : 0;

    (void)ctx;
    (void)this_value;
    console.groups++;
    return console_end(status);
}

static JSValue console_group_end(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    (void)ctx;
    (void)this_value;
    (void)argc;
    (void)argv;
    if (console.groups > 0)
        console.groups--;
    return JS_UNDEFINED;
}

/* ---- counts and times ---- */

/* The label of a count or a time as a string. */
static JSValue label_of(int argc, JSValueConst *argv)
{
    struct bytes text = { 0 };
    JSValue label;
    int status;

    if (argc < 1 || JS_IsUndefined(argv[0]))
        return JS_NewString(context, "default");
    status = JS_IsString(argv[0]) ? bytes_of_value(&text, argv[0]) : describe(&text, argv[0], 0);
    label = status ? JS_EXCEPTION : string_of_bytes(&text);
    bytes_free(&text);
    return label;
}

/* The number under a label; NaN for none. */
static double label_get(JSValueConst map, JSValueConst label)
{
    JSValue value = js_map_get(context, map, 1, &label, 0);
    double number = NAN;

    if (JS_IsNumber(value))
        JS_ToFloat64(context, &number, value);
    JS_FreeValue(context, value);
    return number;
}

static int label_set(JSValueConst map, JSValueConst label, double number)
{
    JSValueConst pair[2] = { label, js_number(number) };
    JSValue done = js_map_set(context, map, 2, pair, 0);
    int failed = JS_IsException(done);

    JS_FreeValue(context, done);
    return failed ? -1 : 0;
}

static void label_delete(JSValueConst map, JSValueConst label)
{
    JS_FreeValue(context, js_map_delete(context, map, 1, &label, 0));
}

/* `label: number` and the unit, with values behind it. */
static int labelled_write(JSValueConst label, double number, const char *unit, int argc, JSValueConst *argv)
{
    struct sequence parts = { 0 };
    struct bytes text = { 0 };
    int status = bytes_of_value(&text, label) || bytes_text(&text, ": ") || describe(&text, js_number(number), 0) ||
                 bytes_text(&text, unit)
                     ? -1
                     : 0;

    if (!status)
        status = sequence_add(&parts, string_of_bytes(&text));
    for (int i = 0; !status && i < argc; i++)
        status = sequence_add(&parts, js_dup(argv[i]));
    if (!status)
        status = parts_write(LEVEL_LOG, &parts);
    bytes_free(&text);
    sequence_free(&parts);
    return status;
}

static int label_warn(const char *before, JSValueConst label, const char *after)
{
    struct bytes text = { 0 };
    int status = bytes_text(&text, before) || bytes_of_value(&text, label) || bytes_text(&text, after) ||
                 text_write(LEVEL_WARN, &text);

    bytes_free(&text);
    return status ? -1 : 0;
}

enum { LABEL_COUNT, LABEL_COUNT_RESET, LABEL_TIME, LABEL_TIME_LOG, LABEL_TIME_END };

static int label_count(JSValueConst label, int what)
{
    double count = label_get(console.counts, label);

    if (what == LABEL_COUNT_RESET) {
        if (isnan(count))
            return label_warn("Count for '", label, "' does not exist");
        label_delete(console.counts, label);
        return 0;
    }
    count = isnan(count) ? 1 : count + 1;
    return label_set(console.counts, label, count) || labelled_write(label, count, "", 0, NULL) ? -1 : 0;
}

static int label_time(JSValueConst label, int what, int argc, JSValueConst *argv)
{
    double start = label_get(console.times, label), now = import_now(TIME_MONOTONIC);
    int status;

    if (what == LABEL_TIME)
        return isnan(start) ? label_set(console.times, label, now) : label_warn("Label '", label, "' already exists");
    if (isnan(start))
        return label_warn("No such label '", label, "'");
    status = labelled_write(label, now - start, "ms", what == LABEL_TIME_LOG && argc > 1 ? argc - 1 : 0, argv + 1);
    if (what == LABEL_TIME_END)
        label_delete(console.times, label);
    return status;
}

static JSValue console_label(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int what)
{
    JSValue label = label_of(argc, argv);
    int status = -1;

    (void)this_value;
    if (!JS_IsException(label))
        status = what >= LABEL_TIME ? label_time(label, what, argc, argv) : label_count(label, what);
    JS_FreeValue(ctx, label);
    return console_end(status);
}

static JSValue console_nothing(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    (void)ctx;
    (void)this_value;
    (void)argc;
    (void)argv;
    return JS_UNDEFINED;
}

#define CONSOLE_WRITE(name, level) \
    { name, JS_PROP_C_W_E, JS_DEF_CFUNC, level, { .func = { 0, JS_CFUNC_generic_magic, { .generic_magic = console_write } } } }
#define CONSOLE_LABEL(name, what) \
    { name, JS_PROP_C_W_E, JS_DEF_CFUNC, what, { .func = { 0, JS_CFUNC_generic_magic, { .generic_magic = console_label } } } }
#define CONSOLE_METHOD(name, function) JS_CFUNC_DEF2(name, 0, function, JS_PROP_C_W_E)

static const JSCFunctionListEntry console_members[] = {
    CONSOLE_WRITE("log", LEVEL_LOG),
    CONSOLE_WRITE("info", LEVEL_INFO),
    CONSOLE_WRITE("debug", LEVEL_DEBUG),
    CONSOLE_WRITE("warn", LEVEL_WARN),
    CONSOLE_WRITE("error", LEVEL_ERROR),
    CONSOLE_WRITE("dirxml", LEVEL_LOG),
    CONSOLE_METHOD("trace", console_trace),
    CONSOLE_METHOD("assert", console_assert),
    CONSOLE_METHOD("dir", console_dir),
    CONSOLE_METHOD("table", console_table),
    CONSOLE_METHOD("group", console_group),
    CONSOLE_METHOD("groupCollapsed", console_group),
    CONSOLE_METHOD("groupEnd", console_group_end),
    CONSOLE_LABEL("count", LABEL_COUNT),
    CONSOLE_LABEL("countReset", LABEL_COUNT_RESET),
    CONSOLE_LABEL("time", LABEL_TIME),
    CONSOLE_LABEL("timeLog", LABEL_TIME_LOG),
    CONSOLE_LABEL("timeEnd", LABEL_TIME_END),
    CONSOLE_METHOD("clear", console_nothing),
    CONSOLE_METHOD("profile", console_nothing),
    CONSOLE_METHOD("profileEnd", console_nothing),
    CONSOLE_METHOD("timeStamp", console_nothing),
};

/* At the end of a program: one that failed within a group leaves no indentation to the next. */
static void console_finish(void)
{
    console.groups = 0;
}

static int console_init(void)
{
    JSValue object = JS_NewObject(context);

    console.counts = js_map_constructor(context, JS_UNDEFINED, 0, NULL, 0);
    console.times = js_map_constructor(context, JS_UNDEFINED, 0, NULL, 0);
    if (JS_IsException(object) || JS_IsException(console.counts) || JS_IsException(console.times))
        return -1;
    if (JS_SetPropertyFunctionList(context, object, console_members, countof(console_members))) {
        JS_FreeValue(context, object);
        return -1;
    }
    return define_hidden(context->global_obj, "console", object);
}
