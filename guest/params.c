/* The list of names and values behind URLSearchParams, by itself or as the query of a URL, and its text. The list is
 * shared with the URL and counted; the URL writes its query anew when it is next looked at.
 */

struct params {
    uint32_t references;
    bool changed;     /* since the URL last wrote its query */
    JSValue *list;    /* strings: name, value, name, value, … */
    uint32_t count;   /* of pairs */
    uint32_t capacity;
};

static struct params *params_new(void)
{
    struct params *p = js_mallocz(context, sizeof(*p));

    if (p)
        p->references = 1;
    return p;
}

static void params_clear(JSRuntime *rt, struct params *p)
{
    while (p->count > 0) {
        p->count--;
        JS_FreeValueRT(rt, p->list[2 * p->count]);
        JS_FreeValueRT(rt, p->list[2 * p->count + 1]);
    }
}

static void params_release(JSRuntime *rt, struct params *p)
{
    if (!p || --p->references)
        return;
    params_clear(rt, p);
    js_free_rt(rt, p->list);
    js_free_rt(rt, p);
}

/* Takes both strings, also when it fails. */
static int params_add(struct params *p, JSValue name, JSValue value)
{
    if (JS_IsException(name) || JS_IsException(value))
        goto fail;
    if (p->count == p->capacity) {
        uint32_t capacity = p->capacity ? p->capacity * 2 : 4;
        JSValue *moved = js_realloc(context, p->list, (size_t)capacity * 2 * sizeof(*moved));
        if (!moved)
            goto fail;
        p->list = moved;
        p->capacity = capacity;
    }
    p->list[2 * p->count] = name;
    p->list[2 * p->count + 1] = value;
    p->count++;
    p->changed = true;
    return 0;
fail:
    JS_FreeValue(context, name);
    JS_FreeValue(context, value);
    return -1;
}

static JSValue usv_string(JSValueConst value)
{
    struct bytes text = { 0 };
    JSValue string = bytes_of_value(&text, value) ? JS_EXCEPTION : string_of_bytes(&text);

    bytes_free(&text);
    return string;
}

static bool same_string(JSValueConst a, JSValueConst b)
{
    return js_string_compare(JS_VALUE_GET_STRING(a), JS_VALUE_GET_STRING(b)) == 0;
}

/* ---- the form of a query ---- */

static JSValue params_part(const uint8_t *at, const uint8_t *end)
{
    struct bytes decoded = { 0 }, text = { 0 };
    JSValue string = JS_EXCEPTION;

    if (!percent_decode(&decoded, at, (uint32_t)(end - at), true) && !utf8_repair(&text, decoded.data, decoded.length))
        string = string_of_bytes(&text);
    bytes_free(&decoded);
    bytes_free(&text);
    return string;
}

/* Appends the pairs of a query without its question mark. */
static int params_parse(struct params *p, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const uint8_t *stop = memchr(at, '&', (size_t)(end - at)), *equals;

        if (!stop)
            stop = end;
        if (stop > at) {
            equals = memchr(at, '=', (size_t)(stop - at));
            if (params_add(p, params_part(at, equals ? equals : stop),
                           equals ? params_part(equals + 1, stop) : js_empty_string(runtime)))
                return -1;
        }
        at = stop + 1;
    }
    return 0;
}

static bool is_plain_in_form(uint8_t byte)
{
    return is_letter(byte) || (byte >= '0' && byte <= '9') || byte == '*' || byte == '-' || byte == '.' || byte == '_';
}

static int params_write_part(struct bytes *out, JSValueConst string)
{
    struct bytes text = { 0 };
    int status = bytes_of_value(&text, string);

    for (uint32_t i = 0; !status && i < text.length; i++) {
        if (text.data[i] == ' ')
            status = bytes_add(out, '+');
        else
            status = is_plain_in_form(text.data[i]) ? bytes_add(out, text.data[i]) : percent_byte(out, text.data[i]);
    }
    bytes_free(&text);
    return status;
}

static int params_write(struct bytes *out, const struct params *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (i > 0 && bytes_add(out, '&'))
            return -1;
        if (params_write_part(out, p->list[2 * i]) || bytes_add(out, '=') || params_write_part(out, p->list[2 * i + 1]))
            return -1;
    }
    return 0;
}
