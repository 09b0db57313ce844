/* TextEncoder and TextDecoder: UTF-8, UTF-16 in both byte orders, and windows-1252, which the web also calls latin1. */

/* The bytes of a buffer or of a view on one, as they are now; false for anything else. */
static bool bytes_of_source(JSValueConst value, uint8_t **data, uint32_t *length)
{
    JSObject *object = JS_IsObject(value) ? JS_VALUE_GET_OBJ(value) : NULL;
    JSArrayBuffer *buffer;

    *data = NULL;
    *length = 0;
    if (!object)
        return false;
    if (object->class_id == JS_CLASS_ARRAY_BUFFER || object->class_id == JS_CLASS_SHARED_ARRAY_BUFFER) {
        buffer = object->u.array_buffer;
        *data = buffer->data;
        *length = buffer->detached ? 0 : (uint32_t)buffer->byte_length;
        return true;
    }
    if (object->class_id < JS_CLASS_UINT8C_ARRAY || object->class_id > JS_CLASS_DATAVIEW)
        return false;
    view_bytes(object, data, length);
    return true;
}

/* Whether an option is set, in options that may be missing: 1, 0, or -1 with an exception. */
static int option_is_set(JSValueConst options, const char *name)
{
    JSValue value;

    if (!JS_IsObject(options))
        return 0;
    value = JS_GetPropertyStr(context, options, name);
    return JS_IsException(value) ? -1 : JS_ToBoolFree(context, value);
}

/* ---- TextEncoder ---- */

static JSClassID text_encoder_class, text_decoder_class;

static JSValue text_encoder_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    (void)ctx;
    (void)argc;
    (void)argv;
    return JS_IsUndefined(new_target) ? wants_new("TextEncoder") : new_object_of(new_target, text_encoder_class, NULL);
}

static bool is_text_encoder(JSValueConst value)
{
    if (JS_GetClassID(value) == text_encoder_class)
        return true;
    JS_ThrowTypeError(context, "TextEncoder object expected");
    return false;
}

static JSValue text_encoder_encoding(JSContext *ctx, JSValueConst this_value)
{
    return is_text_encoder(this_value) ? JS_NewString(ctx, "utf-8") : JS_EXCEPTION;
}

static JSValue text_encoder_encode(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct bytes text = { 0 };
    JSValue array;

    if (!is_text_encoder(this_value))
        return JS_EXCEPTION;
    if (argc > 0 && !JS_IsUndefined(argv[0]) && bytes_of_value(&text, argv[0]))
        array = JS_EXCEPTION;
    else
        array = JS_NewUint8ArrayCopy(ctx, text.data, text.length);
    bytes_free(&text);
    return array;
}

static JSValue text_encoder_encode_into(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct bytes text = { 0 };
    const uint8_t *at, *end;
    uint8_t *to;
    uint32_t room, read = 0;

    if (!is_text_encoder(this_value))
        return JS_EXCEPTION;
    if (argc < 2 || JS_GetClassID(argv[1]) != JS_CLASS_UINT8_ARRAY)
        return JS_ThrowTypeError(ctx, "encodeInto takes a string and a Uint8Array");
    if (bytes_of_value(&text, argv[0])) {
        bytes_free(&text);
        return JS_EXCEPTION;
    }
    bytes_of_source(argv[1], &to, &room); /* after the conversion, which may have changed it */
    at = text.data;
    end = at + text.length;
    while (at < end) {
        const uint8_t *next = at;
        uint32_t code = next_code_point(&next, end);

        if ((uint32_t)(next - text.data) > room)
            break;
        read += code >= 0x10000 ? 2 : 1;
        at = next;
    }
    room = (uint32_t)(at - text.data);
    if (room)
        memcpy(to, text.data, room);
    bytes_free(&text);
    return js_make_read_written(ctx, read, room);
}

/* ---- TextDecoder ---- */

enum { DECODE_UTF8, DECODE_UTF16LE, DECODE_UTF16BE, DECODE_WINDOWS_1252 };

struct text_decoder {
    int encoding;
    bool fatal, ignore_bom;
    bool started; /* within a stream, and past where a byte order mark could be */
    struct utf8_decoder utf8;
    int lead_byte;      /* -1 for none */
    uint32_t surrogate; /* 0 for none */
};

static const char *const encoding_names[] = { "utf-8", "utf-16le", "utf-16be", "windows-1252" };

static const struct {
    const char *label;
    int encoding;
} encoding_labels[] = {
    { "utf-8", DECODE_UTF8 },
    { "utf8", DECODE_UTF8 },
    { "unicode-1-1-utf-8", DECODE_UTF8 },
    { "unicode11utf8", DECODE_UTF8 },
    { "unicode20utf8", DECODE_UTF8 },
    { "x-unicode20utf8", DECODE_UTF8 },
    { "utf-16le", DECODE_UTF16LE },
    { "utf-16", DECODE_UTF16LE },
    { "ucs-2", DECODE_UTF16LE },
    { "iso-10646-ucs-2", DECODE_UTF16LE },
    { "csunicode", DECODE_UTF16LE },
    { "unicode", DECODE_UTF16LE },
    { "unicodefeff", DECODE_UTF16LE },
    { "utf-16be", DECODE_UTF16BE },
    { "unicodefffe", DECODE_UTF16BE },
    { "windows-1252", DECODE_WINDOWS_1252 },
    { "cp1252", DECODE_WINDOWS_1252 },
    { "x-cp1252", DECODE_WINDOWS_1252 },
    { "latin1", DECODE_WINDOWS_1252 },
    { "l1", DECODE_WINDOWS_1252 },
    { "iso-8859-1", DECODE_WINDOWS_1252 },
    { "iso8859-1", DECODE_WINDOWS_1252 },
    { "iso88591", DECODE_WINDOWS_1252 },
    { "iso_8859-1", DECODE_WINDOWS_1252 },
    { "iso_8859-1:1987", DECODE_WINDOWS_1252 },
    { "iso-ir-100", DECODE_WINDOWS_1252 },
    { "csisolatin1", DECODE_WINDOWS_1252 },
    { "cp819", DECODE_WINDOWS_1252 },
    { "ibm819", DECODE_WINDOWS_1252 },
    { "ascii", DECODE_WINDOWS_1252 },
    { "us-ascii", DECODE_WINDOWS_1252 },
    { "ansi_x3.4-1968", DECODE_WINDOWS_1252 },
};

/* What windows-1252 has in place of the controls from 0x80 on. */
static const uint16_t windows_1252_high[32] = {
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160,  0x2039, 0x152, 0x8d, 0x17d, 0x8f,
    0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
};

static int encoding_of_label(JSValueConst value)
{
    struct bytes label = { 0 };
    uint32_t start = 0;
    int encoding = -1;

    if (bytes_of_value(&label, value) || bytes_add(&label, 0))
        goto done;
    label.length--;
    while (label.length > 0 && lre_is_space_byte(label.data[label.length - 1]) && label.data[label.length - 1] != '\v')
        label.data[--label.length] = 0;
    while (start < label.length && lre_is_space_byte(label.data[start]) && label.data[start] != '\v')
        start++;
    for (uint32_t i = 0; i < countof(encoding_labels); i++)
        if (strlen(encoding_labels[i].label) == label.length - start &&
            !strcasecmp(encoding_labels[i].label, (const char *)label.data + start))
            encoding = encoding_labels[i].encoding;
    if (encoding < 0)
        JS_ThrowRangeError(context, "The \"%.*s\" encoding is not supported",
                           text_head((const char *)label.data + start, 40), label.data + start);
done:
    bytes_free(&label);
    return encoding;
}

static void text_decoder_reset(struct text_decoder *d)
{
    d->utf8 = utf8_start;
    d->started = false;
    d->lead_byte = -1;
    d->surrogate = 0;
}

static void text_decoder_finalizer(JSRuntime *rt, JSValueConst value)
{
    js_free_rt(rt, JS_GetOpaque(value, text_decoder_class));
}

static JSValue text_decoder_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    JSValueConst options = argc > 1 ? argv[1] : JS_UNDEFINED;
    struct text_decoder *d;
    JSValue object;
    int encoding = DECODE_UTF8, fatal, ignore_bom;

    if (JS_IsUndefined(new_target))
        return wants_new("TextDecoder");
    if (argc > 0 && !JS_IsUndefined(argv[0]))
        encoding = encoding_of_label(argv[0]);
    if (encoding < 0)
        return JS_EXCEPTION;
    fatal = option_is_set(options, "fatal");
    ignore_bom = fatal < 0 ? -1 : option_is_set(options, "ignoreBOM");
    if (ignore_bom < 0)
        return JS_EXCEPTION;
    d = js_mallocz(ctx, sizeof(*d));
    if (!d)
        return JS_EXCEPTION;
    d->encoding = encoding;
    d->fatal = fatal;
    d->ignore_bom = ignore_bom;
    text_decoder_reset(d);
    object = new_object_of(new_target, text_decoder_class, d);
    if (JS_IsException(object))
        js_free(ctx, d);
    return object;
}

static int decode_wrong(struct text_decoder *d, struct bytes *out)
{
    d->utf8.failed = true;
    return bytes_code_point(out, 0xfffd);
}

static int decode_unit(struct text_decoder *d, struct bytes *out, uint32_t unit)
{
    uint32_t lead = d->surrogate;

    d->surrogate = 0;
    if (lead && is_lo_surrogate(unit))
        return bytes_code_point(out, from_surrogate(lead, unit));
    if (lead && decode_wrong(d, out))
        return -1;
    if (is_hi_surrogate(unit)) {
        d->surrogate = unit;
        return 0;
    }
    return is_lo_surrogate(unit) ? decode_wrong(d, out) : bytes_code_point(out, unit);
}

static int decode_utf16(struct text_decoder *d, struct bytes *out, const uint8_t *at, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        int lead = d->lead_byte;

        if (lead < 0) {
            d->lead_byte = at[i];
            continue;
        }
        d->lead_byte = -1;
        if (decode_unit(d, out, (uint32_t)(d->encoding == DECODE_UTF16LE ? at[i] << 8 | lead : lead << 8 | at[i])))
            return -1;
    }
    return 0;
}

static int decode_windows_1252(struct bytes *out, const uint8_t *at, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (bytes_code_point(out, at[i] >= 0x80 && at[i] < 0xa0 ? windows_1252_high[at[i] - 0x80] : at[i]))
            return -1;
    return 0;
}

static int decode_feed(struct text_decoder *d, struct bytes *out, const uint8_t *at, uint32_t length)
{
    if (d->encoding == DECODE_UTF8)
        return utf8_feed(&d->utf8, out, at, length);
    if (d->encoding == DECODE_WINDOWS_1252)
        return decode_windows_1252(out, at, length);
    return decode_utf16(d, out, at, length);
}

static int decode_finish(struct text_decoder *d, struct bytes *out)
{
    if (d->encoding == DECODE_UTF8)
        return utf8_finish(&d->utf8, out);
    return d->lead_byte >= 0 || d->surrogate ? decode_wrong(d, out) : 0;
}

static int throw_undecodable(const struct text_decoder *d)
{
    JSValue error;

    JS_ThrowTypeError(context, "The encoded data was not valid for encoding %s", encoding_names[d->encoding]);
    error = JS_GetException(context);
    if (JS_IsError(error))
        JS_DefinePropertyValueStr(context, error, "code",
                                  JS_NewString(context, "ERR_ENCODING_INVALID_ENCODED_DATA"), JS_PROP_C_W_E);
    JS_Throw(context, error);
    return -1;
}

static JSValue text_decoder_decode(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct text_decoder *d = JS_GetOpaque2(ctx, this_value, text_decoder_class);
    struct bytes out = { 0 };
    uint8_t *data = NULL;
    uint32_t length = 0, mark = 0;
    JSValue text = JS_EXCEPTION;
    int stream, status;

    if (!d)
        return JS_EXCEPTION;
    stream = argc > 1 ? option_is_set(argv[1], "stream") : 0;
    if (stream < 0)
        return JS_EXCEPTION;
    if (argc > 0 && !JS_IsUndefined(argv[0]) && !bytes_of_source(argv[0], &data, &length))
        return JS_ThrowTypeError(ctx, "decode takes an ArrayBuffer or a view on one");
    status = decode_feed(d, &out, data, length);
    if (!status && !stream)
        status = decode_finish(d, &out);
    if (!status && d->fatal && d->utf8.failed) {
        status = throw_undecodable(d);
    }
    if (!d->started && out.length > 0) {
        d->started = true;
        if (!d->ignore_bom && d->encoding != DECODE_WINDOWS_1252 && out.length >= 3 && !memcmp(out.data, "\xef\xbb\xbf", 3))
            mark = 3;
    }
    if (!status)
        text = JS_NewStringLen(ctx, out.length ? (const char *)out.data + mark : "", out.length - mark);
    if (!stream || status)
        text_decoder_reset(d);
    bytes_free(&out);
    return text;
}

enum { DECODER_ENCODING, DECODER_FATAL, DECODER_IGNORE_BOM };

static JSValue text_decoder_get(JSContext *ctx, JSValueConst this_value, int what)
{
    struct text_decoder *d = JS_GetOpaque2(ctx, this_value, text_decoder_class);

    if (!d)
        return JS_EXCEPTION;
    if (what == DECODER_ENCODING)
        return JS_NewString(ctx, encoding_names[d->encoding]);
    return js_bool(what == DECODER_FATAL ? d->fatal : d->ignore_bom);
}

static const JSCFunctionListEntry text_encoder_members[] = {
    JS_CFUNC_DEF("encode", 0, text_encoder_encode),
    JS_CFUNC_DEF("encodeInto", 2, text_encoder_encode_into),
    JS_CGETSET_DEF("encoding", text_encoder_encoding, NULL),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "TextEncoder", JS_PROP_CONFIGURABLE),
};

static const JSCFunctionListEntry text_decoder_members[] = {
    JS_CFUNC_DEF("decode", 0, text_decoder_decode),
    JS_CGETSET_MAGIC_DEF("encoding", text_decoder_get, NULL, DECODER_ENCODING),
    JS_CGETSET_MAGIC_DEF("fatal", text_decoder_get, NULL, DECODER_FATAL),
    JS_CGETSET_MAGIC_DEF("ignoreBOM", text_decoder_get, NULL, DECODER_IGNORE_BOM),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "TextDecoder", JS_PROP_CONFIGURABLE),
};

static int encoding_init(void)
{
    text_encoder_class = new_class("TextEncoder", NULL, NULL);
    text_decoder_class = new_class("TextDecoder", text_decoder_finalizer, NULL);
    if (!text_encoder_class || !text_decoder_class)
        return -1;
    return define_class(text_encoder_class, "TextEncoder", text_encoder_constructor, 0, JS_UNDEFINED, text_encoder_members,
                        countof(text_encoder_members)) ||
                   define_class(text_decoder_class, "TextDecoder", text_decoder_constructor, 0, JS_UNDEFINED, text_decoder_members,
                                countof(text_decoder_members))
               ? -1
               : 0;
}
