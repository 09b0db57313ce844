/* The console. Lines cross as values, which the host renders; formats, labels and tables are made into text here. No
 * method throws, whatever it is given, and none runs code of the program but `toJSON` and getters under `%j`.
 */

#define GROUP_MAX 40 /* levels of groups that are still indented */

static struct {
    uint32_t groups;
    JSValue counts; /* maps from a label to a number */
    JSValue times;
} console;

/* Sends the parts of a line, which the host joins by spaces. */
static int line_send(const struct sequence *parts, int level)
{
    struct encoder e = { .mode = ENCODE_CLIP, .max_bytes = limits.log_bytes, .nodes_left = limits.nodes };
    JSValue line = JS_NewObjectProto(context, JS_NULL); /* the host counts the line as the first object of the tree */
    int failed = JS_IsException(line) || seen_add(&e, JS_VALUE_GET_OBJ(line)) || put_byte(&e, TAG_ARRAY) ||
                 put_varint(&e, parts->count);

    JS_FreeValue(context, line);
    for (uint32_t i = 0; !failed && i < parts->count; i++)
        failed = encode_or_note(&e, parts->items[i], 1);
    if (!failed)
        import_log((uint32_t)level | (e.cut ? LEVEL_CUT : 0), e.out.data, e.out.length);
    encoder_free(&e);
    return failed ? -1 : 0;
}

/* ---- groups ---- */

static uint32_t group_spaces(void)
{
    return 2 * (console.groups < GROUP_MAX ? console.groups : GROUP_MAX);
}

static int put_spaces(struct bytes *out, uint32_t count)
{
    while (count-- > 0)
        if (bytes_add(out, ' '))
            return -1;
    return 0;
}

/* Indents a text of the line: before it if it is the first part, and after each line end. */
static JSValue indented(JSValueConst text, bool is_first)
{
    struct bytes from = { 0 }, out = { 0 };
    JSValue result = JS_EXCEPTION;
    int status = bytes_of_value(&from, text);

    if (!status && is_first)
        status = put_spaces(&out, group_spaces());
    for (uint32_t i = 0; !status && i < from.length; i++) {
        status = bytes_add(&out, from.data[i]);
        if (!status && from.data[i] == '\n')
            status = put_spaces(&out, group_spaces());
    }
    if (!status)
        result = string_of_bytes(&out);
    bytes_free(&from);
    bytes_free(&out);
    return result;
}

/* The line's parts within the open groups. The space that follows the first part counts where that is no text. */
static int line_indent(struct sequence *to, const struct sequence *parts)
{
    struct bytes spaces = { 0 };
    int status = 0;

    if (parts->count == 0 || !JS_IsString(parts->items[0])) {
        status = put_spaces(&spaces, group_spaces() - 1);
        if (!status)
            status = sequence_add(to, string_of_bytes(&spaces));
        bytes_free(&spaces);
    }
    for (uint32_t i = 0; !status && i < parts->count; i++)
        status = sequence_add(to, JS_IsString(parts->items[i]) ? indented(parts->items[i], i == 0)
                                                               : js_dup(parts->items[i]));
    return status;
}

/* ---- formats ---- */

/* The text of a primitive as `%d`, `%i` and `%f` want it. */
static int format_number(struct bytes *out, JSValueConst value, char directive)
{
    double number = NAN;
    JSObject *object = JS_IsObject(value) ? JS_VALUE_GET_OBJ(value) : NULL;
    JSValue text;
    int status;

    if (JS_IsBigInt(value) && directive != 'f')
        return describe_bigint(out, value);
    if (object && directive == 'd' && (object->class_id == JS_CLASS_DATE || object->class_id == JS_CLASS_NUMBER))
        return describe_number(out, object->u.object_data);
    if (object || JS_IsSymbol(value) || is_long_bigint(value))
        return bytes_text(out, "NaN");
    if (directive == 'd') {
        if (JS_ToFloat64(context, &number, value))
            return -1;
        return describe(out, js_number(number), 0);
    }
    text = directive == 'i' ? js_parseInt(context, JS_UNDEFINED, 2, (JSValueConst[]){ value, JS_UNDEFINED })
                            : js_parseFloat(context, JS_UNDEFINED, 1, &value);
    status = JS_IsException(text) ? -1 : describe(out, text, 0);
    JS_FreeValue(context, text);
    return status;
}

/* JSON of a value; an error in it is shown in its place. */
static int format_json(struct bytes *out, JSValueConst value)
{
    JSValue text = JS_JSONStringify(context, value, JS_UNDEFINED, JS_UNDEFINED);
    int status;

    if (JS_IsException(text)) {
        if (JS_IsUncatchableError(runtime->current_exception) || board.stop)
            return -1;
        drop_exception();
        return bytes_text(out, "[no JSON]");
    }
    status = JS_IsString(text) ? bytes_of_value(out, text) : bytes_text(out, "undefined");
    JS_FreeValue(context, text);
    return status;
}

static int format_flush(struct sequence *parts, struct bytes *text, bool drop_space)
{
    if (drop_space && text->length > 0 && text->data[text->length - 1] == ' ')
        text->length--;
    else if (text->length == 0)
        return 0;
    if (sequence_add(parts, string_of_bytes(text)))
        return -1;
    text->length = 0;
    return 0;
}

/* Writes one argument. What only the host can render becomes a part of its own; `*apart` says so. */
static int format_argument(struct sequence *parts, struct bytes *text, char directive, JSValueConst value, bool *apart)
{
    switch (directive) {
    case 'd':
    case 'i':
    case 'f':
        return format_number(text, value, directive);
    case 'j':
        return format_json(text, value);
    case 'c':
        return 0;
    case 's':
        if (JS_IsString(value))
            return describe_string(text, value, false);
        break;
    default:
        break;
    }
    if (!JS_IsObject(value))
        return describe(text, value, 0);
    *apart = true;
    return format_flush(parts, text, true) || sequence_add(parts, js_dup(value)) ? -1 : 0;
}

/* Replaces the directives of a text by arguments as long as there are any. `*used` counts them. */
static int format_text(struct sequence *parts, const struct bytes *format, int argc, JSValueConst *argv, int *used)
{
    struct bytes text = { 0 };
    bool apart = false;
    int status = 0;

    for (uint32_t i = 0; !status && i < format->length; i++) {
        char next = i + 1 < format->length ? (char)format->data[i + 1] : 0;

        if (format->data[i] == '%' && next == '%') {
            status = bytes_add(&text, '%');
            i++;
        } else if (format->data[i] == '%' && next && strchr("sdifjoOc", next) && *used < argc) {
            status = format_argument(parts, &text, next, argv[(*used)++], &apart);
            i++;
            continue;
        } else if (!apart || format->data[i] != ' ') {
            status = bytes_add(&text, format->data[i]);
        }
        apart = false;
    }
    if (!status)
        status = format_flush(parts, &text, false);
    bytes_free(&text);
    return status;
}

/* The parts of a line from the arguments of a console method. */
static int line_format(struct sequence *parts, int argc, JSValueConst *argv)
{
    struct bytes format = { 0 };
    int used = 0, status = 0;

    if (argc > 1 && JS_IsString(argv[0])) {
        status = bytes_of_value(&format, argv[0]);
        if (!status && format.length && memchr(format.data, '%', format.length)) {
            used = 1;
            status = format_text(parts, &format, argc, argv, &used);
        }
        bytes_free(&format);
    }
    for (; !status && used < argc; used++)
        status = sequence_add(parts, js_dup(argv[used]));
    return status;
}

/* Ends a console method: errors are dropped, a stop goes on. */
static JSValue console_end(int status)
{
    if (status && JS_HasException(context)) {
        if (JS_IsUncatchableError(runtime->current_exception))
            return JS_EXCEPTION;
        drop_exception();
    }
    return JS_UNDEFINED;
}

static int parts_write(int level, const struct sequence *parts)
{
    struct sequence inside = { 0 };
    int status = console.groups > 0 ? line_indent(&inside, parts) : 0;

    if (!status)
        status = line_send(console.groups > 0 ? &inside : parts, level);
    sequence_free(&inside);
    return status;
}

static int line_write(int level, int argc, JSValueConst *argv)
{
    struct sequence parts = { 0 };
    int status = line_format(&parts, argc, argv);

    if (!status)
        status = parts_write(level, &parts);
    sequence_free(&parts);
    return status;
}

static JSValue console_write(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int level)
{
    (void)ctx;
    (void)this_value;
    return console_end(line_write(level, argc, argv));
}

/* Writes a text of ours as it is. */
static int text_write(int level, const struct bytes *text)
{
    JSValue string = string_of_bytes(text);
    int status = JS_IsException(string) ? -1 : line_write(level, 1, vc(&string));

    JS_FreeValue(context, string);
    return status;
}

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
    status = describe_string(&text, value, true);
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
