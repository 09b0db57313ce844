/* Short texts of values for the console, where the host cannot render them: within a format, a label or a table. They run
 * no code of the program and do not fail but for memory.
 */

/* Characters of one text, and items of one list, before it is cut. */
#define DESCRIBE_TEXT 1000
#define DESCRIBE_ITEMS 3

/* Larger BigInts are not written out: decimal digits take quadratic time. */
#define DESCRIBE_LIMBS 64

static int describe(struct bytes *out, JSValueConst value, int depth);

/* Text of a string, at most DESCRIBE_TEXT characters of it where `cut`. */
static int describe_string(struct bytes *out, JSValueConst value, bool quoted)
{
    struct bytes text = { 0 };
    const uint8_t *at, *end;
    uint8_t quote = '\'';
    uint32_t count = 0;
    int status = bytes_of_value(&text, value);

    if (!status && text.length && memchr(text.data, '\'', text.length))
        quote = !memchr(text.data, '"', text.length) ? '"' : !memchr(text.data, '`', text.length) ? '`' : '\'';
    if (!status && quoted)
        status = bytes_add(out, quote);
    at = text.data;
    end = at + text.length;
    while (!status && at < end) {
        const uint8_t *start = at;
        uint32_t code = next_code_point(&at, end);

        if (quoted && count++ == DESCRIBE_TEXT) {
            status = bytes_text(out, "...");
            break;
        }
        if (quoted && code == '\n')
            status = bytes_text(out, "\\n");
        else if (quoted && code == '\t')
            status = bytes_text(out, "\\t");
        else if (quoted && code == '\r')
            status = bytes_text(out, "\\r");
        else if (quoted && (code == '\\' || code == quote))
            status = bytes_add(out, '\\') || bytes_add(out, (uint8_t)code) ? -1 : 0;
        else
            status = bytes_put(out, start, (uint32_t)(at - start));
    }
    if (!status && quoted)
        status = bytes_add(out, quote);
    bytes_free(&text);
    return status;
}

static bool is_long_bigint(JSValueConst value)
{
    return JS_VALUE_GET_TAG(value) == JS_TAG_BIG_INT && ((JSBigInt *)JS_VALUE_GET_PTR(value))->len > DESCRIBE_LIMBS;
}

static int describe_bigint(struct bytes *out, JSValueConst value)
{
    if (is_long_bigint(value))
        return bytes_text(out, "[a long BigInt]");
    return bytes_of_value(out, value) || bytes_add(out, 'n') ? -1 : 0;
}

static int describe_symbol(struct bytes *out, JSValueConst value)
{
    JSAtom atom = JS_ValueToAtom(context, value);
    JSValue text = JS_AtomToString(context, atom);
    int status = JS_IsException(text) || bytes_text(out, "Symbol(") || bytes_of_value(out, text) || bytes_add(out, ')');

    JS_FreeValue(context, text);
    JS_FreeAtom(context, atom);
    return status ? -1 : 0;
}

static int describe_number(struct bytes *out, JSValueConst value)
{
    if (JS_VALUE_GET_NORM_TAG(value) == JS_TAG_FLOAT64 && JS_VALUE_GET_FLOAT64(value) == 0 &&
        signbit(JS_VALUE_GET_FLOAT64(value)))
        return bytes_text(out, "-0");
    return bytes_of_value(out, value);
}

static int describe_named(struct bytes *out, const char *before, JSValueConst name, const char *otherwise)
{
    if (bytes_text(out, before))
        return -1;
    if (JS_IsString(name) && !JS_IsEmptyString(name) ? describe_string(out, name, false) : bytes_text(out, otherwise))
        return -1;
    return bytes_add(out, ']');
}

/* The name of the class of an instance, or of the kind of object. */
static int describe_kind(struct bytes *out, JSObject *object)
{
    JSValueConst constructor = data_property(object, JS_ATOM_constructor), name = JS_UNDEFINED;
    JSValue kind;
    int status;

    if (JS_IsObject(constructor))
        name = data_property(JS_VALUE_GET_OBJ(constructor), JS_ATOM_name);
    if (JS_IsString(name) && !JS_IsEmptyString(name))
        return describe_named(out, "[", name, "");
    kind = JS_AtomToString(context, runtime->class_array[object->class_id].class_name);
    status = JS_IsException(kind) ? -1 : describe_named(out, "[", kind, "Object");
    JS_FreeValue(context, kind);
    return status;
}

/* An element that is there and not behind a getter; JS_UNINITIALIZED for a hole. The caller frees it. */
static JSValue element_of(JSObject *array, uint32_t index)
{
    JSValue element = JS_UNINITIALIZED;
    JSProperty *property;
    JSShapeProperty *shape;
    JSAtom atom;

    if (js_get_fast_array_element(context, array, index, &element))
        return element;
    if (array->fast_array)
        return JS_UNINITIALIZED;
    atom = JS_NewAtomUInt32(context, index);
    shape = atom == JS_ATOM_NULL ? NULL : find_own_property(&property, array, atom);
    if (shape)
        element = (shape->flags & JS_PROP_TMASK) == JS_PROP_NORMAL ? js_dup(property->u.value) : JS_UNDEFINED;
    JS_FreeAtom(context, atom);
    return element;
}

static int describe_array(struct bytes *out, JSObject *array, int depth)
{
    uint32_t length, shown;
    char more[40];
    int status;

    if (array_length(JS_MKPTR(JS_TAG_OBJECT, array), &length))
        return -1;
    if (length == 0)
        return bytes_text(out, "[]");
    if (depth <= 0)
        return bytes_text(out, "[Array]");
    shown = length < DESCRIBE_ITEMS ? length : DESCRIBE_ITEMS;
    status = bytes_text(out, "[");
    for (uint32_t i = 0; !status && i < shown; i++) {
        JSValue element = element_of(array, i);

        status = bytes_text(out, i ? ", " : " ");
        if (!status)
            status = JS_IsUninitialized(element) ? bytes_text(out, "<empty>") : describe(out, element, depth - 1);
        JS_FreeValue(context, element);
    }
    if (!status && shown < length) {
        snprintf(more, sizeof(more), ", ... %u more item%s", length - shown, length - shown == 1 ? "" : "s");
        status = bytes_text(out, more);
    }
    return status ? -1 : bytes_text(out, " ]");
}

static bool is_identifier(const char *name)
{
    if (!name[0] || (name[0] >= '0' && name[0] <= '9'))
        return false;
    for (; *name; name++)
        if (!is_letter((uint8_t)*name) && !(*name >= '0' && *name <= '9') && *name != '_' && *name != '$')
            return false;
    return true;
}

static int describe_key(struct bytes *out, JSAtom atom)
{
    JSValue text = JS_AtomToString(context, atom);
    const char *name = JS_IsException(text) ? NULL : JS_ToCString(context, text);
    int status = name ? describe_string(out, text, !is_identifier(name)) : -1;

    JS_FreeCString(context, name);
    JS_FreeValue(context, text);
    return status;
}

/* The value of an own property as it is; a getter is not called. */
static int describe_property(struct bytes *out, JSObject *object, JSAtom atom, int depth)
{
    JSProperty *property;
    JSShapeProperty *shape;

    if (object->fast_array) {
        JSValue element = __JS_AtomIsTaggedInt(atom) ? element_of(object, __JS_AtomToUInt32(atom)) : JS_UNINITIALIZED;
        int status = JS_IsUninitialized(element) ? bytes_text(out, "undefined") : describe(out, element, depth);

        JS_FreeValue(context, element);
        return status;
    }
    shape = find_own_property(&property, object, atom);
    if (!shape)
        return bytes_text(out, "undefined");
    if ((shape->flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
        return bytes_text(out, "[Getter]");
    return describe(out, property->u.value, depth);
}

static int describe_object(struct bytes *out, JSObject *object, int depth)
{
    JSPropertyEnum *names;
    uint32_t count;
    int status = 0;

    if (!is_plain(object))
        return describe_kind(out, object);
    if (JS_GetOwnPropertyNames(context, &names, &count, JS_MKPTR(JS_TAG_OBJECT, object),
                               JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return -1;
    if (count == 0)
        status = bytes_text(out, "{}");
    else if (depth <= 0 || count > 2)
        status = bytes_text(out, "[Object]");
    for (uint32_t i = 0; !status && depth > 0 && count <= 2 && i < count; i++) {
        status = bytes_text(out, i ? ", " : "{ ");
        if (!status && !(status = describe_key(out, names[i].atom)))
            status = bytes_text(out, ": ");
        if (!status)
            status = describe_property(out, object, names[i].atom, depth - 1);
        if (!status && i + 1 == count)
            status = bytes_text(out, " }");
    }
    js_free_prop_enum(context, names, count);
    return status;
}

static int describe_date(struct bytes *out, JSObject *object)
{
    JSValue text;
    double time;
    int status;

    if (JS_ToFloat64(context, &time, object->u.object_data))
        return -1;
    if (!isfinite(time))
        return bytes_text(out, "Invalid Date");
    text = get_date_string(context, JS_MKPTR(JS_TAG_OBJECT, object), 0, NULL, 0x23);
    status = JS_IsException(text) ? -1 : bytes_of_value(out, text);
    JS_FreeValue(context, text);
    return status;
}

static int describe_error(struct bytes *out, JSObject *object)
{
    JSValueConst name = data_property(object, JS_ATOM_name), message = data_property(object, JS_ATOM_message);

    if (JS_IsString(name) ? describe_string(out, name, false) : bytes_text(out, "Error"))
        return -1;
    if (!JS_IsString(message) || JS_IsEmptyString(message))
        return 0;
    return bytes_text(out, ": ") || describe_string(out, message, false) ? -1 : 0;
}

static int describe_any_object(struct bytes *out, JSValueConst value, int depth)
{
    JSObject *object = JS_VALUE_GET_OBJ(value);

    switch (object->class_id) {
    case JS_CLASS_ARRAY:
        return describe_array(out, object, depth);
    case JS_CLASS_OBJECT:
        return describe_object(out, object, depth);
    case JS_CLASS_DATE:
        return describe_date(out, object);
    case JS_CLASS_ERROR:
        return describe_error(out, object);
    default:
        break;
    }
    if (object->class_id != JS_CLASS_PROXY && JS_IsFunction(context, value))
        return describe_named(out, "[Function: ", data_property(object, JS_ATOM_name), "(anonymous)");
    return describe_kind(out, object);
}

/* Appends a text of `value`; containers are shown down to `depth`. */
static int describe(struct bytes *out, JSValueConst value, int depth)
{
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        return describe_string(out, value, true);
    case JS_TAG_SYMBOL:
        return describe_symbol(out, value);
    case JS_TAG_BIG_INT:
    case JS_TAG_SHORT_BIG_INT:
        return describe_bigint(out, value);
    case JS_TAG_INT:
    case JS_TAG_FLOAT64:
        return describe_number(out, value);
    case JS_TAG_NULL:
        return bytes_text(out, "null");
    case JS_TAG_BOOL:
        return bytes_text(out, JS_VALUE_GET_BOOL(value) ? "true" : "false");
    case JS_TAG_OBJECT:
        return describe_any_object(out, value, depth);
    default:
        return bytes_text(out, "undefined");
    }
}

#define DETAILS_MAX 10

static bool is_usual(JSAtom name)
{
    return name == JS_ATOM_name || name == JS_ATOM_message || name == JS_ATOM_stack || name == JS_ATOM_cause ||
           name == JS_ATOM_errors;
}

/* What every failure of a tool has says nothing more, unless the same call may succeed later. */
static bool is_told(JSObject *error, JSAtom name)
{
    static const char *const names[] = { "tool", "code", "retryable" };
    JSValueConst values[3];
    bool is_failure = true, told = false;

    for (uint32_t i = 0; i < countof(names); i++) {
        JSAtom atom = JS_NewAtom(context, names[i]);

        values[i] = data_property(error, atom);
        is_failure = is_failure && !JS_IsUndefined(values[i]);
        told = told || atom == name;
        if (i == 2 && atom == name)
            told = !(JS_IsBool(values[i]) && JS_VALUE_GET_BOOL(values[i]));
        JS_FreeAtom(context, atom);
    }
    return is_failure && told;
}

static int error_details(struct bytes *out, JSObject *error)
{
    JSPropertyEnum *names;
    uint32_t count, shown = 0;
    int status = 0;

    if (JS_GetOwnPropertyNames(context, &names, &count, JS_MKPTR(JS_TAG_OBJECT, error),
                               JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return -1;
    for (uint32_t i = 0; !status && i < count && shown < DETAILS_MAX; i++) {
        JSAtom name = names[i].atom;

        if (is_usual(name) || is_told(error, name))
            continue;
        status = bytes_text(out, shown++ ? ", " : "{ ") || describe_key(out, name) || bytes_text(out, ": ") ||
                 describe_property(out, error, name, 1);
    }
    js_free_prop_enum(context, names, count);
    if (!status && shown)
        status = bytes_text(out, " }");
    return status ? -1 : 0;
}
