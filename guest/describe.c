/* Short texts of values for the console, where the host cannot render them: within a format, a label or a table. They run
 * no code of the program and do not fail but for memory.
 */

/* Characters of one text, and items of one list, before it is cut. */
#define DESCRIBE_TEXT 1000
#define DESCRIBE_ITEMS 3

/* Keys of an object that is written out, and places for properties that are searched for them. */
#define DESCRIBE_KEYS 2
#define DESCRIBE_PLACES 1000

/* Larger BigInts are not written out: decimal digits take quadratic time. */
#define DESCRIBE_LIMBS 64

static int describe(struct bytes *out, JSValueConst value, int depth);

enum text_form { TEXT_QUOTED, TEXT_PLAIN };

/* The kind of quotes that a text has none of, if there is one. */
static uint8_t quote_for(JSValueConst text, uint32_t length)
{
    bool has_single = false, has_double = false, has_back = false;

    for (uint32_t at = 0; at < length && at < DESCRIBE_TEXT; at++) {
        int unit = string_rope_get(text, at);

        has_single = has_single || unit == '\'';
        has_double = has_double || unit == '"';
        has_back = has_back || unit == '`';
    }
    return !has_single ? '\'' : !has_double ? '"' : !has_back ? '`' : '\'';
}

static int put_escaped(struct bytes *out, uint32_t code, uint8_t quote)
{
    switch (code) {
    case '\n':
        return bytes_text(out, "\\n");
    case '\t':
        return bytes_text(out, "\\t");
    case '\r':
        return bytes_text(out, "\\r");
    default:
        return ((code == '\\' || code == quote) && bytes_add(out, '\\')) || bytes_code_point(out, code) ? -1 : 0;
    }
}

/* The first DESCRIBE_TEXT characters of a string. */
static int describe_string(struct bytes *out, JSValueConst text, enum text_form form)
{
    uint32_t length = string_rope_get_len(text), at = 0;
    uint8_t quote = quote_for(text, length);
    int status = form == TEXT_QUOTED ? bytes_add(out, quote) : 0;

    for (uint32_t count = 0; !status && at < length && count < DESCRIBE_TEXT; count++) {
        uint32_t code = string_next(text, length, &at);

        status = form == TEXT_QUOTED ? put_escaped(out, code, quote) : bytes_code_point(out, code);
    }
    if (!status && at < length)
        status = bytes_text(out, "...");
    return status || (form == TEXT_QUOTED && bytes_add(out, quote)) ? -1 : 0;
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
    int status = JS_IsException(text) || bytes_text(out, "Symbol(") || describe_string(out, text, TEXT_PLAIN) ||
                 bytes_add(out, ')');

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
    if (JS_IsString(name) && !JS_IsEmptyString(name) ? describe_string(out, name, TEXT_PLAIN) : bytes_text(out, otherwise))
        return -1;
    return bytes_add(out, ']');
}

/* The name of the class of an instance, or of the kind of object. */
static int describe_kind(struct bytes *out, JSObject *object)
{
    JSValue name = class_name(object);
    int status = JS_IsException(name) ? -1 : describe_named(out, "[", name, "Object");

    JS_FreeValue(context, name);
    return status;
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
        JSValue element;
        enum own_property kind = own_element(array, i, &element);

        status = bytes_text(out, i ? ", " : " ");
        if (!status)
            status = kind == OWN_ABSENT ? bytes_text(out, "<empty>") : describe(out, element, depth - 1);
        JS_FreeValue(context, element);
    }
    if (!status && shown < length) {
        snprintf(more, sizeof(more), ", ... %u more item%s", length - shown, length - shown == 1 ? "" : "s");
        status = bytes_text(out, more);
    }
    return status ? -1 : bytes_text(out, " ]");
}

static bool is_identifier(JSValueConst text)
{
    uint32_t length = string_rope_get_len(text);

    for (uint32_t at = 0; at < length && at < DESCRIBE_TEXT; at++) {
        int unit = string_rope_get(text, at);
        bool digit = unit >= '0' && unit <= '9';

        if (unit >= 0x80 || !(is_letter((uint8_t)unit) || unit == '_' || unit == '$' || (digit && at > 0)))
            return false;
    }
    return length > 0;
}

static int describe_key(struct bytes *out, JSAtom atom)
{
    JSValue text = JS_AtomToString(context, atom);
    int status = JS_IsException(text) ? -1 : describe_string(out, text, is_identifier(text) ? TEXT_PLAIN : TEXT_QUOTED);

    JS_FreeValue(context, text);
    return status;
}

/* The value of an own property as it is; a getter is not called. */
static int describe_property(struct bytes *out, JSObject *object, JSAtom atom, int depth)
{
    JSValue value;
    int status;

    if (own_data(object, atom, &value) == OWN_ACCESSOR)
        return bytes_text(out, "[Getter]");
    status = describe(out, value, depth);
    JS_FreeValue(context, value);
    return status;
}

/* The keys of an object that has few, numbers first; DESCRIBE_KEYS + 1 where there may be more. */
static uint32_t few_keys(JSObject *object, JSAtom keys[DESCRIBE_KEYS])
{
    JSShapeProperty *shape = get_shape_prop(object->shape);
    uint32_t count = 0, index;

    for (int i = 0; i < object->shape->prop_count; i++) {
        if (i == DESCRIBE_PLACES)
            return DESCRIBE_KEYS + 1;
        if (shape[i].atom == JS_ATOM_NULL || !(shape[i].flags & JS_PROP_ENUMERABLE) ||
            JS_AtomGetKind(context, shape[i].atom) != JS_ATOM_KIND_STRING)
            continue;
        if (count == DESCRIBE_KEYS)
            return DESCRIBE_KEYS + 1;
        keys[count++] = shape[i].atom;
    }
    if (count == 2 && JS_AtomIsArrayIndex(context, &index, keys[1])) {
        uint32_t before;

        if (!JS_AtomIsArrayIndex(context, &before, keys[0]) || index < before) {
            JSAtom first = keys[1];

            keys[1] = keys[0];
            keys[0] = first;
        }
    }
    return count;
}

static int describe_object(struct bytes *out, JSObject *object, int depth)
{
    JSAtom keys[DESCRIBE_KEYS];
    uint32_t count;
    int status = 0;

    if (!is_plain(object))
        return describe_kind(out, object);
    count = few_keys(object, keys);
    if (count == 0)
        return bytes_text(out, "{}");
    if (depth <= 0 || count > DESCRIBE_KEYS)
        return bytes_text(out, "[Object]");
    for (uint32_t i = 0; !status && i < count; i++)
        status = bytes_text(out, i ? ", " : "{ ") || describe_key(out, keys[i]) || bytes_text(out, ": ") ||
                 describe_property(out, object, keys[i], depth - 1);
    return status || bytes_text(out, " }") ? -1 : 0;
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

    if (JS_IsString(name) ? describe_string(out, name, TEXT_PLAIN) : bytes_text(out, "Error"))
        return -1;
    if (!JS_IsString(message) || JS_IsEmptyString(message))
        return 0;
    return bytes_text(out, ": ") || describe_string(out, message, TEXT_PLAIN) ? -1 : 0;
}

/* As the host shows it. */
static int describe_handle(struct bytes *out, const struct handle *handle)
{
    JSValue name = JS_AtomToString(context, handle->name);
    char head[32];
    int status;

    snprintf(head, sizeof(head), "[handle %u of ", handle->id);
    status = JS_IsException(name) ? -1 : describe_named(out, head, name, "?");
    JS_FreeValue(context, name);
    return status;
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
    if (handle_of(object))
        return describe_handle(out, handle_of(object));
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
        return describe_string(out, value, TEXT_QUOTED);
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
