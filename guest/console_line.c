/* Lines of the console: arguments by their format, within the open groups, to the host, which renders the values. No code
 * of the program runs but `toJSON` and getters under `%j`.
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
            return bytes_of_value(text, value);
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
