/* Text as UTF-8 bytes, in and out of strings, without a look at anything that a program can change. A lone surrogate, and
 * bytes that are no UTF-8, become U+FFFD.
 */

/* Longest text that is worked on, in bytes. */
#define TEXT_MAX (256u << 20)

static int bytes_put(struct bytes *b, const void *data, uint32_t length)
{
    if (length > TEXT_MAX || b->length > TEXT_MAX - length) {
        JS_ThrowRangeError(context, "text is longer than %u bytes", TEXT_MAX);
        return -1;
    }
    if (bytes_reserve(b, length))
        return -1;
    if (length)
        memcpy(b->data + b->length, data, length);
    b->length += length;
    return 0;
}

static int bytes_add(struct bytes *b, uint8_t byte)
{
    return bytes_put(b, &byte, 1);
}

static int bytes_text(struct bytes *b, const char *text)
{
    return bytes_put(b, text, (uint32_t)strlen(text));
}

static int bytes_code_point(struct bytes *b, uint32_t code)
{
    uint8_t encoded[UTF8_CHAR_LEN_MAX];

    return bytes_put(b, encoded, (uint32_t)utf8_encode(encoded, code));
}

static void bytes_free(struct bytes *b)
{
    js_free(context, b->data);
    memset(b, 0, sizeof(*b));
}

static bool bytes_equal(const struct bytes *b, const char *text)
{
    return b->length == strlen(text) && !memcmp(b->data, text, b->length);
}

/* Appends the text of a value, which for an object runs its own conversion. */
static int bytes_of_value(struct bytes *b, JSValueConst value)
{
    size_t length;
    const char *text = JS_ToCStringLen(context, &length, value);
    uint32_t start = b->length;
    int failed;

    if (!text)
        return -1;
    failed = length > TEXT_MAX ? bytes_put(b, text, TEXT_MAX + 1) : bytes_put(b, text, (uint32_t)length);
    JS_FreeCString(context, text);
    if (!failed)
        replace_surrogates(b->data + start, b->length - start);
    return failed;
}

static JSValue string_of_bytes(const struct bytes *b)
{
    return JS_NewStringLen(context, b->length ? (const char *)b->data : "", b->length);
}

/* Reads one code point of text that is known to be UTF-8. */
static uint32_t next_code_point(const uint8_t **at, const uint8_t *end)
{
    return utf8_decode_len(*at, (size_t)(end - *at), at);
}

/* ---- UTF-8 that may be wrong, in pieces ---- */

struct utf8_decoder {
    uint32_t code;
    uint8_t needed, seen;
    uint8_t lower, upper;   /* bounds of the next byte */
    bool failed;            /* some byte was wrong */
};

static const struct utf8_decoder utf8_start = { .lower = 0x80, .upper = 0xbf };

static int utf8_wrong(struct utf8_decoder *d, struct bytes *out)
{
    *d = utf8_start;
    d->failed = true;
    return bytes_code_point(out, 0xfffd);
}

/* How many bytes follow this first one; -1 where it is none. */
static int utf8_follow(struct utf8_decoder *d, uint8_t byte)
{
    if (byte >= 0xc2 && byte <= 0xdf) {
        d->code = byte & 0x1f;
        return 1;
    }
    if (byte >= 0xe0 && byte <= 0xef) {
        d->code = byte & 0xf;
        if (byte == 0xe0)
            d->lower = 0xa0;
        if (byte == 0xed)
            d->upper = 0x9f;
        return 2;
    }
    if (byte >= 0xf0 && byte <= 0xf4) {
        d->code = byte & 7;
        if (byte == 0xf0)
            d->lower = 0x90;
        if (byte == 0xf4)
            d->upper = 0x8f;
        return 3;
    }
    return -1;
}

static int utf8_feed(struct utf8_decoder *d, struct bytes *out, const uint8_t *at, uint32_t length)
{
    const uint8_t *end = at + length;
    bool failed = d->failed;
    int status = 0;

    while (!status && at < end) {
        uint8_t byte = *at;

        if (!d->needed) {
            const uint8_t *plain = at;
            int follow;

            while (at < end && *at < 0x80)
                at++;
            if (at > plain) {
                status = bytes_put(out, plain, (uint32_t)(at - plain));
                continue;
            }
            at++;
            follow = utf8_follow(d, byte);
            if (follow < 0) {
                status = utf8_wrong(d, out);
                failed = true;
            } else {
                d->needed = (uint8_t)follow;
            }
        } else if (byte < d->lower || byte > d->upper) {
            status = utf8_wrong(d, out); /* the byte is looked at again, as a first one */
            failed = true;
        } else {
            at++;
            d->lower = 0x80;
            d->upper = 0xbf;
            d->code = d->code << 6 | (byte & 0x3f);
            if (++d->seen == d->needed) {
                status = bytes_code_point(out, d->code);
                *d = utf8_start;
            }
        }
    }
    d->failed = failed;
    return status;
}

static int utf8_finish(struct utf8_decoder *d, struct bytes *out)
{
    return d->needed ? utf8_wrong(d, out) : 0;
}

static int utf8_repair(struct bytes *out, const uint8_t *at, uint32_t length)
{
    struct utf8_decoder d = utf8_start;

    return utf8_feed(&d, out, at, length) || utf8_finish(&d, out) ? -1 : 0;
}

/* ---- percent-encoding ---- */

static int hex_digit(uint8_t byte)
{
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    byte |= 0x20;
    return byte >= 'a' && byte <= 'f' ? byte - 'a' + 10 : -1;
}

static int percent_decode(struct bytes *out, const uint8_t *at, uint32_t length, bool plus_is_space)
{
    for (uint32_t i = 0; i < length; i++) {
        uint8_t byte = at[i];

        if (byte == '%' && length - i > 2 && hex_digit(at[i + 1]) >= 0 && hex_digit(at[i + 2]) >= 0) {
            byte = (uint8_t)(hex_digit(at[i + 1]) << 4 | hex_digit(at[i + 2]));
            i += 2;
        } else if (byte == '+' && plus_is_space) {
            byte = ' ';
        }
        if (bytes_add(out, byte))
            return -1;
    }
    return 0;
}

static int percent_byte(struct bytes *out, uint8_t byte)
{
    static const char digits[] = "0123456789ABCDEF";
    const char text[3] = { '%', digits[byte >> 4], digits[byte & 15] };

    return bytes_put(out, text, sizeof(text));
}

/* ---- classes ---- */

/* A class of objects that hold data of ours; 0 where there is no memory. */
static JSClassID new_class(const char *name, JSClassFinalizer *finalizer, JSClassGCMark *mark)
{
    JSClassID id = 0;
    JSClassDef definition = { .class_name = name, .finalizer = finalizer, .gc_mark = mark };

    JS_NewClassID(runtime, &id);
    return JS_NewClass(runtime, id, &definition) ? 0 : id;
}

/* Makes the constructor a global; `parent` is one that it extends, or undefined. */
static int define_class(JSClassID id, const char *name, JSCFunction *constructor, int length, JSValueConst parent,
                        const JSCFunctionListEntry *members, int count)
{
    JSValue function = JS_NewCConstructor(context, (int)id, name, constructor, length, JS_CFUNC_constructor_or_func, 0,
                                          parent, NULL, 0, members, count, 0);
    int failed = JS_IsException(function);

    JS_FreeValue(context, function);
    return failed ? -1 : 0;
}

static JSValue new_object_of(JSValueConst new_target, JSClassID id, void *data)
{
    JSValue object = js_create_from_ctor(context, new_target, (int)id);

    if (!JS_IsException(object))
        JS_SetOpaqueInternal(object, data);
    return object;
}

static JSValue wants_new(const char *name)
{
    return JS_ThrowTypeError(context, "constructor %s requires 'new'", name);
}

static int define_hidden(JSValueConst object, const char *name, JSValue value)
{
    return JS_DefinePropertyValueStr(context, object, name, value, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE) < 0 ? -1 : 0;
}

/* A DOMException as a value. */
static JSValue new_dom_exception(const char *name, const char *message)
{
    JS_ThrowDOMException(context, name, "%s", message);
    return JS_GetException(context);
}
