/* `crypto`: random numbers from the host, and nothing else. */

#define RANDOM_MAX 65536 /* bytes at one time, as on the web */

static bool is_integer_array(const JSObject *object)
{
    return object->class_id >= JS_CLASS_UINT8C_ARRAY && object->class_id <= JS_CLASS_DATAVIEW &&
           object->class_id != JS_CLASS_FLOAT16_ARRAY && object->class_id != JS_CLASS_FLOAT32_ARRAY &&
           object->class_id != JS_CLASS_FLOAT64_ARRAY && object->class_id != JS_CLASS_DATAVIEW;
}

static JSValue random_values(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    uint8_t *data;
    uint32_t length;

    (void)this_value;
    if (argc < 1 || !JS_IsObject(argv[0]) || !is_integer_array(JS_VALUE_GET_OBJ(argv[0])))
        return JS_ThrowDOMException(ctx, "TypeMismatchError", "getRandomValues takes an integer typed array");
    bytes_of_source(argv[0], &data, &length);
    if (length > RANDOM_MAX)
        return JS_ThrowDOMException(ctx, "QuotaExceededError", "getRandomValues fills at most %d bytes, not %u", RANDOM_MAX,
                                    length);
    if (length)
        import_random(data, length);
    return js_dup(argv[0]);
}

/* Version 4: 122 random bits. */
static JSValue random_uuid(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t bytes[16];
    char text[36];
    int at = 0;

    (void)this_value;
    (void)argc;
    (void)argv;
    import_random(bytes, sizeof(bytes));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text[at++] = '-';
        text[at++] = digits[bytes[i] >> 4];
        text[at++] = digits[bytes[i] & 15];
    }
    return JS_NewStringLen(ctx, text, sizeof(text));
}

static JSValue subtle_is_missing(JSContext *ctx, JSValueConst this_value)
{
    (void)this_value;
    return JS_ThrowDOMException(ctx, "NotSupportedError",
                                "crypto.subtle is not available here: hashes, signatures and ciphers need a tool");
}

static const JSCFunctionListEntry crypto_members[] = {
    JS_CFUNC_DEF("getRandomValues", 1, random_values),
    JS_CFUNC_DEF("randomUUID", 0, random_uuid),
    JS_CGETSET_DEF("subtle", subtle_is_missing, NULL),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "Crypto", JS_PROP_CONFIGURABLE),
};

static int crypto_init(void)
{
    JSValue crypto = JS_NewObject(context);

    if (JS_IsException(crypto))
        return -1;
    if (JS_SetPropertyFunctionList(context, crypto, crypto_members, countof(crypto_members))) {
        JS_FreeValue(context, crypto);
        return -1;
    }
    return define_hidden(context->global_obj, "crypto", crypto);
}
