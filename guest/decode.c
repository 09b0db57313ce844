/* Bytes to values, from the tagged form of abi.h. Properties are defined and never set, so that no setter and no `then`
 * of the program is met.
 */

struct decoder {
    const uint8_t *at;
    const uint8_t *end;
    JSObject **seen; /* borrowed: each is held by the value that is being built */
    uint32_t seen_count;
    uint32_t seen_capacity;
};

static JSValue decode_value(struct decoder *d, uint32_t depth);

static JSValue decode_bad(void)
{
    return JS_ThrowInternalError(context, "bad value from the host");
}

static int take_bytes(struct decoder *d, uint32_t length, const uint8_t **out)
{
    if (length > (size_t)(d->end - d->at)) {
        decode_bad();
        return -1;
    }
    *out = d->at;
    d->at += length;
    return 0;
}

static int take_varint(struct decoder *d, uint32_t *out)
{
    uint32_t value = 0;

    for (uint32_t shift = 0; shift < 35; shift += 7) {
        const uint8_t *byte;
        if (take_bytes(d, 1, &byte))
            return -1;
        value |= (uint32_t)(*byte & 0x7f) << shift;
        if (!(*byte & 0x80)) {
            *out = value;
            return 0;
        }
    }
    decode_bad();
    return -1;
}

static int take_text(struct decoder *d, const char **text, uint32_t *length)
{
    const uint8_t *bytes;

    if (take_varint(d, length) || take_bytes(d, *length, &bytes))
        return -1;
    *text = (const char *)bytes;
    return 0;
}

static JSValue decode_string(struct decoder *d)
{
    const char *text;
    uint32_t length;

    return take_text(d, &text, &length) ? JS_EXCEPTION : JS_NewStringLen(context, text, length);
}

static int remember(struct decoder *d, JSValueConst value)
{
    if (JS_IsException(value))
        return -1;
    if (d->seen_count == d->seen_capacity) {
        uint32_t capacity = d->seen_capacity ? d->seen_capacity * 2 : 16;
        JSObject **moved = js_realloc(context, d->seen, capacity * sizeof(*moved));
        if (!moved)
            return -1;
        d->seen = moved;
        d->seen_capacity = capacity;
    }
    d->seen[d->seen_count++] = JS_VALUE_GET_OBJ(value);
    return 0;
}

static int decode_elements(struct decoder *d, JSValueConst array, uint32_t count, uint32_t depth)
{
    for (uint32_t i = 0; i < count; i++) {
        JSValue element;

        if (d->at < d->end && *d->at == TAG_HOLE) {
            d->at++;
            continue;
        }
        element = decode_value(d, depth + 1);
        if (JS_IsException(element) ||
            JS_DefinePropertyValueUint32(context, array, i, element, JS_PROP_C_W_E) < 0)
            return -1;
    }
    return 0;
}

static JSValue decode_array(struct decoder *d, uint32_t depth)
{
    JSValue array = JS_NewArray(context);
    uint32_t count;

    if (remember(d, array) || take_varint(d, &count))
        goto fail;
    if (decode_elements(d, array, count, depth))
        goto fail;
    /* Trailing holes count as well. */
    if (JS_DefinePropertyValue(context, array, JS_ATOM_length, JS_NewUint32(context, count), JS_PROP_WRITABLE) < 0)
        goto fail;
    return array;
fail:
    JS_FreeValue(context, array);
    return JS_EXCEPTION;
}

static JSValue decode_object_into(struct decoder *d, JSValue object, uint32_t depth)
{
    uint32_t count, length;
    const char *name;

    if (take_varint(d, &count))
        goto fail;
    while (count--) {
        JSValue value;
        JSAtom atom;
        int defined;

        if (take_text(d, &name, &length))
            goto fail;
        atom = JS_NewAtomLen(context, name, length);
        if (atom == JS_ATOM_NULL)
            goto fail;
        value = decode_value(d, depth + 1);
        if (JS_IsException(value))
            defined = -1;
        else if (STANDS(DEFENCE_DEFINED_PROPERTIES))
            defined = JS_DefinePropertyValue(context, object, atom, value, JS_PROP_C_W_E);
        else
            defined = JS_SetProperty(context, object, atom, value);
        JS_FreeAtom(context, atom);
        if (defined < 0)
            goto fail;
    }
    return object;
fail:
    JS_FreeValue(context, object);
    return JS_EXCEPTION;
}

static JSValue decode_object(struct decoder *d, uint32_t depth)
{
    JSValue object = JS_NewObject(context);

    if (remember(d, object)) {
        JS_FreeValue(context, object);
        return JS_EXCEPTION;
    }
    return decode_object_into(d, object, depth);
}

static JSValue decode_collection(struct decoder *d, uint32_t depth, bool is_map)
{
    int magic = is_map ? 0 : MAGIC_SET;
    JSValue collection = js_map_constructor(context, JS_UNDEFINED, 0, NULL, magic);
    uint32_t count;

    if (remember(d, collection) || take_varint(d, &count))
        goto fail;
    while (count--) {
        JSValue pair[2] = { decode_value(d, depth + 1), JS_UNDEFINED };
        JSValue done = JS_EXCEPTION;

        if (is_map && !JS_IsException(pair[0]))
            pair[1] = decode_value(d, depth + 1);
        if (!JS_IsException(pair[0]) && !JS_IsException(pair[1]))
            done = js_map_set(context, collection, 2, vc(pair), magic);
        JS_FreeValue(context, pair[0]);
        JS_FreeValue(context, pair[1]);
        if (JS_IsException(done))
            goto fail;
        JS_FreeValue(context, done);
    }
    return collection;
fail:
    JS_FreeValue(context, collection);
    return JS_EXCEPTION;
}

static JSValue decode_typed_array(struct decoder *d)
{
    const uint8_t *kind, *bytes;
    uint32_t length, class_id = JS_CLASS_UINT8C_ARRAY;
    JSValue buffer, array;
    JSValueConst argv[3] = { JS_UNDEFINED, JS_UNDEFINED, JS_UNDEFINED };

    if (take_bytes(d, 1, &kind) || take_varint(d, &length) || take_bytes(d, length, &bytes))
        return JS_EXCEPTION;
    while (class_id <= JS_CLASS_DATAVIEW && typed_array_kinds[class_id - JS_CLASS_UINT8C_ARRAY] != *kind)
        class_id++;
    if (class_id > JS_CLASS_DATAVIEW)
        return decode_bad();
    buffer = JS_NewArrayBufferCopy(context, bytes, length);
    if (JS_IsException(buffer))
        return buffer;
    argv[0] = buffer;
    if (class_id == JS_CLASS_DATAVIEW)
        array = js_dataview_constructor(context, JS_UNDEFINED, 1, argv);
    else
        array = JS_NewTypedArray(context, 1, argv, (JSTypedArrayEnum)(class_id - JS_CLASS_UINT8C_ARRAY));
    JS_FreeValue(context, buffer);
    return array;
}

static JSValue decode_regexp(struct decoder *d)
{
    JSValue source = decode_string(d), flags = decode_string(d), bytecode;

    if (JS_IsException(source) || JS_IsException(flags)) {
        JS_FreeValue(context, source);
        JS_FreeValue(context, flags);
        return JS_EXCEPTION;
    }
    bytecode = js_compile_regexp(context, source, flags);
    JS_FreeValue(context, flags);
    if (JS_IsException(bytecode)) {
        JS_FreeValue(context, source);
        return JS_EXCEPTION;
    }
    return js_regexp_constructor_internal(context, JS_UNDEFINED, source, bytecode);
}

static JSValue decode_bigint(struct decoder *d)
{
    const uint8_t *negative;
    const char *digits;
    uint32_t length;
    char *text;
    JSBigInt *number;

    if (take_bytes(d, 1, &negative) || take_text(d, &digits, &length))
        return JS_EXCEPTION;
    text = js_malloc(context, (size_t)length + 2);
    if (!text)
        return JS_EXCEPTION;
    text[0] = '-';
    memcpy(text + 1, digits, length);
    text[length + 1] = 0;
    number = js_bigint_from_string(context, *negative ? text : text + 1, 16);
    js_free(context, text);
    return number ? JS_CompactBigInt(context, number) : JS_EXCEPTION;
}

/* An error object with an own name where it is not one of the language's; it has no stack of the host. */
static JSValue new_error(const char *name, uint32_t name_length, JSValue message)
{
    static const char *const native[] = {
        [JS_EVAL_ERROR] = "EvalError",     [JS_RANGE_ERROR] = "RangeError", [JS_REFERENCE_ERROR] = "ReferenceError",
        [JS_SYNTAX_ERROR] = "SyntaxError", [JS_TYPE_ERROR] = "TypeError",   [JS_URI_ERROR] = "URIError",
    };
    JSValueConst proto = context->class_proto[JS_CLASS_ERROR];
    bool known = name_length == 5 && !memcmp(name, "Error", 5);
    JSValue error;

    for (uint32_t i = 0; i < countof(native); i++) {
        if (native[i] && strlen(native[i]) == name_length && !memcmp(native[i], name, name_length)) {
            proto = context->native_error_proto[i];
            known = true;
        }
    }
    error = JS_NewObjectProtoClass(context, proto, JS_CLASS_ERROR);
    if (JS_IsException(error)) {
        JS_FreeValue(context, message);
        return error;
    }
    JS_DefinePropertyValue(context, error, JS_ATOM_message, message, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    if (!known)
        JS_DefinePropertyValue(context, error, JS_ATOM_name, JS_NewStringLen(context, name, name_length),
                               JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_VALUE_GET_OBJ(error)->u.object_data = js_empty_string(runtime);
    return error;
}

static JSValue decode_error(struct decoder *d, uint32_t depth)
{
    const char *name;
    const uint8_t *flags;
    uint32_t name_length, count;
    JSValue message, error, part;

    if (take_text(d, &name, &name_length))
        return JS_EXCEPTION;
    message = decode_string(d);
    if (JS_IsException(message))
        return message;
    error = new_error(name, name_length, message);
    if (remember(d, error) || take_bytes(d, 1, &flags))
        goto fail;
    if (*flags & ERROR_HAS_STACK) {
        part = decode_string(d);
        if (JS_IsException(part))
            goto fail;
        JS_FreeValue(context, JS_VALUE_GET_OBJ(error)->u.object_data);
        JS_VALUE_GET_OBJ(error)->u.object_data = part;
    }
    if (*flags & ERROR_HAS_CAUSE) {
        part = decode_value(d, depth + 1);
        if (JS_IsException(part) || JS_DefinePropertyValue(context, error, JS_ATOM_cause, part,
                                                           JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE) < 0)
            goto fail;
    }
    if (*flags & ERROR_HAS_ERRORS) {
        part = JS_NewArray(context);
        if (take_varint(d, &count) || JS_IsException(part) || decode_elements(d, part, count, depth + 1)) {
            JS_FreeValue(context, part);
            goto fail;
        }
        if (JS_DefinePropertyValue(context, error, JS_ATOM_errors, part, JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE) < 0)
            goto fail;
    }
    return error;
fail:
    JS_FreeValue(context, error);
    return JS_EXCEPTION;
}

static JSValue decode_number(struct decoder *d, bool is_date)
{
    const uint8_t *bytes;
    double number;

    if (take_bytes(d, 8, &bytes))
        return JS_EXCEPTION;
    memcpy(&number, bytes, 8);
    return is_date ? JS_NewDate(context, number) : js_number(number);
}

static JSValue decode_handle(struct decoder *d)
{
    const char *name;
    uint32_t id, length;

    if (take_varint(d, &id) || take_text(d, &name, &length))
        return JS_EXCEPTION;
    return id ? handle_make(id, name, length) : decode_bad();
}

static JSValue remembered(struct decoder *d, JSValue value)
{
    if (!remember(d, value))
        return value;
    JS_FreeValue(context, value);
    return JS_EXCEPTION;
}

static JSValue decode_value(struct decoder *d, uint32_t depth)
{
    const uint8_t *tag, *bytes;
    uint32_t number;

    if (depth > limits.depth || js_check_stack_overflow(runtime, 0))
        return JS_ThrowRangeError(context, "value from the host is too deep");
    if (take_bytes(d, 1, &tag))
        return JS_EXCEPTION;
    switch (*tag) {
    case TAG_UNDEFINED:
        return JS_UNDEFINED;
    case TAG_NULL:
        return JS_NULL;
    case TAG_FALSE:
    case TAG_TRUE:
        return js_bool(*tag == TAG_TRUE);
    case TAG_INT:
        if (take_varint(d, &number))
            return JS_EXCEPTION;
        return js_int32((int32_t)(number >> 1) ^ -(int32_t)(number & 1));
    case TAG_NUMBER:
        return decode_number(d, false);
    case TAG_BIGINT:
        return decode_bigint(d);
    case TAG_STRING:
    case TAG_DESCRIPTION:
        return decode_string(d);
    case TAG_ARRAY_BUFFER:
        if (take_varint(d, &number) || take_bytes(d, number, &bytes))
            return JS_EXCEPTION;
        return remembered(d, JS_NewArrayBufferCopy(context, bytes, number));
    case TAG_TYPED_ARRAY:
        return remembered(d, decode_typed_array(d));
    case TAG_DATE:
        return remembered(d, decode_number(d, true));
    case TAG_REGEXP:
        return remembered(d, decode_regexp(d));
    case TAG_ARRAY:
        return decode_array(d, depth);
    case TAG_OBJECT:
        return decode_object(d, depth);
    case TAG_MAP:
    case TAG_SET:
        return decode_collection(d, depth, *tag == TAG_MAP);
    case TAG_ERROR:
        return decode_error(d, depth);
    case TAG_HANDLE:
        return decode_handle(d);
    case TAG_REF:
        if (take_varint(d, &number))
            return JS_EXCEPTION;
        return number < d->seen_count ? js_dup(JS_MKPTR(JS_TAG_OBJECT, d->seen[number])) : decode_bad();
    default:
        return decode_bad();
    }
}
