/* Values to bytes and back, in the tagged form of abi.h.
 *
 * Three ways to encode: STRICT for arguments (getters run, what cannot cross is an error that names its path),
 * SHOW for a program's result (no code of the program runs, what cannot cross becomes a description) and CLIP for
 * the console (as SHOW, and cut to the budget). Decoding defines properties and never sets them, so that no setter
 * and no `then` of the program is met.
 */

enum encode_mode { ENCODE_STRICT, ENCODE_SHOW, ENCODE_CLIP };

struct bytes {
    uint8_t *data;
    uint32_t length;
    uint32_t capacity;
};

struct path_step {
    const struct path_step *parent;
    JSAtom atom;    /* JS_ATOM_NULL for an index */
    uint32_t index;
};

struct encoder {
    struct bytes out;
    enum encode_mode mode;
    uint32_t max_bytes;
    uint32_t nodes_left;
    bool too_large;
    JSObject **seen;     /* in order of appearance; each held, since a getter might free it */
    uint32_t seen_count;
    uint32_t seen_capacity;
    uint32_t *slots;     /* open addressing over `seen`, index + 1, used above SEEN_LINEAR */
    uint32_t slot_count;
};

#define SEEN_LINEAR 8
#define CLIP_ELEMENTS 1000

static int encode_value(struct encoder *e, JSValueConst value, uint32_t depth, const struct path_step *path);

static int bytes_reserve(struct bytes *b, uint32_t more)
{
    uint32_t capacity = b->capacity ? b->capacity : 128;
    uint8_t *moved;

    if (b->capacity - b->length >= more)
        return 0;
    while (capacity - b->length < more)
        capacity *= 2;
    moved = js_realloc(context, b->data, capacity);
    if (!moved)
        return -1;
    b->data = moved;
    b->capacity = capacity;
    return 0;
}

static int put_bytes(struct encoder *e, const void *data, uint32_t length)
{
    if (length > e->max_bytes || e->out.length > e->max_bytes - length) {
        e->too_large = true;
        return -1;
    }
    if (bytes_reserve(&e->out, length))
        return -1;
    memcpy(e->out.data + e->out.length, data, length);
    e->out.length += length;
    return 0;
}

static int put_byte(struct encoder *e, uint8_t byte)
{
    return put_bytes(e, &byte, 1);
}

static int put_varint(struct encoder *e, uint32_t value)
{
    uint8_t buffer[5];
    uint32_t length = 0;

    while (value >= 0x80) {
        buffer[length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    buffer[length++] = (uint8_t)value;
    return put_bytes(e, buffer, length);
}

static int put_text(struct encoder *e, const char *text, size_t length)
{
    return put_varint(e, (uint32_t)length) || put_bytes(e, text, (uint32_t)length) ? -1 : 0;
}

static int put_tagged_text(struct encoder *e, uint8_t tag, const char *text)
{
    return put_byte(e, tag) || put_text(e, text, strlen(text)) ? -1 : 0;
}

/* A lone surrogate comes out of QuickJS as three bytes ED A0..BF xx; U+FFFD has three bytes as well. */
static void replace_surrogates(uint8_t *text, uint32_t length)
{
    for (uint32_t i = 0; i + 2 < length; i++) {
        if (text[i] == 0xed && text[i + 1] >= 0xa0) {
            text[i] = 0xef;
            text[i + 1] = 0xbf;
            text[i + 2] = 0xbd;
        }
    }
}

/* Cuts a text to the bytes left, never inside a character. */
static size_t clipped(const struct encoder *e, const char *text, size_t length)
{
    size_t left = e->max_bytes > e->out.length + 64 ? e->max_bytes - e->out.length - 64 : 0;

    if (e->mode != ENCODE_CLIP || length <= left)
        return length;
    while (left > 0 && ((uint8_t)text[left] & 0xc0) == 0x80)
        left--;
    return left;
}

static int put_js_string(struct encoder *e, JSValueConst value)
{
    size_t length, kept;
    const char *text = JS_ToCStringLen(context, &length, value);
    uint32_t start;
    int failed;

    if (!text)
        return -1;
    kept = clipped(e, text, length);
    failed = put_varint(e, (uint32_t)kept);
    start = e->out.length;
    failed = failed || put_bytes(e, text, (uint32_t)kept);
    JS_FreeCString(context, text);
    if (failed)
        return -1;
    replace_surrogates(e->out.data + start, (uint32_t)kept);
    return 0;
}

static int put_atom(struct encoder *e, JSAtom atom)
{
    JSValue text = JS_AtomToString(context, atom);
    int failed = JS_IsException(text) || put_js_string(e, text);

    JS_FreeValue(context, text);
    return failed ? -1 : 0;
}

static int put_number(struct encoder *e, uint8_t tag, double number)
{
    uint64_t bits;

    if (number != number)
        bits = 0x7ff8000000000000u;
    else
        memcpy(&bits, &number, sizeof(bits));
    return put_byte(e, tag) || put_bytes(e, &bits, sizeof(bits)) ? -1 : 0;
}

static int encode_number(struct encoder *e, double number)
{
    int32_t integer;

    if (number >= INT32_MIN && number <= INT32_MAX && number == (integer = (int32_t)number) &&
        !(integer == 0 && signbit(number)))
        return put_byte(e, TAG_INT) || put_varint(e, ((uint32_t)integer << 1) ^ (uint32_t)(integer >> 31)) ? -1 : 0;
    return put_number(e, TAG_NUMBER, number);
}

static int encode_bigint(struct encoder *e, JSValueConst value)
{
    JSValue text = js_bigint_to_string1(context, value, 16);
    size_t length;
    const char *digits;
    bool negative;
    int failed;

    if (JS_IsException(text))
        return -1;
    digits = JS_ToCStringLen(context, &length, text);
    JS_FreeValue(context, text);
    if (!digits)
        return -1;
    negative = digits[0] == '-';
    failed = put_byte(e, TAG_BIGINT) || put_byte(e, negative) || put_text(e, digits + negative, length - negative);
    JS_FreeCString(context, digits);
    return failed ? -1 : 0;
}

static void throw_with_path(const struct path_step *path, const char *what)
{
    char text[512];
    const struct path_step *steps[64];
    uint32_t count = 0, used;

    for (const struct path_step *step = path; step && count < countof(steps); step = step->parent)
        steps[count++] = step;
    used = (uint32_t)snprintf(text, sizeof(text), "argument");
    while (count-- > 0 && used < sizeof(text) - 8) {
        if (steps[count]->atom == JS_ATOM_NULL) {
            used += (uint32_t)snprintf(text + used, sizeof(text) - used, "[%u]", steps[count]->index);
        } else {
            const char *name = JS_AtomToCString(context, steps[count]->atom);
            used += (uint32_t)snprintf(text + used, sizeof(text) - used, ".%s", name ? name : "?");
            JS_FreeCString(context, name);
        }
    }
    JS_ThrowTypeError(context, "%s: %s", text, what);
}

/* What has no form on the wire: a description in a result, an error with its path in an argument. */
static int encode_foreign(struct encoder *e, const char *what, const char *description, const struct path_step *path)
{
    if (e->mode != ENCODE_STRICT)
        return put_tagged_text(e, TAG_DESCRIPTION, description);
    throw_with_path(path, what);
    return -1;
}

static uint32_t slot_of(const struct encoder *e, const JSObject *object)
{
    uint32_t slot = ((uint32_t)(uintptr_t)object >> 3) * 2654435761u & (e->slot_count - 1);

    while (e->slots[slot] && e->seen[e->slots[slot] - 1] != object)
        slot = (slot + 1) & (e->slot_count - 1);
    return slot;
}

static int slots_grow(struct encoder *e)
{
    uint32_t count = e->slot_count ? e->slot_count * 4 : 64;

    js_free(context, e->slots);
    e->slots = js_calloc(context, count, sizeof(uint32_t));
    e->slot_count = e->slots ? count : 0;
    if (!e->slots)
        return -1;
    for (uint32_t i = 0; i < e->seen_count; i++)
        e->slots[slot_of(e, e->seen[i])] = i + 1;
    return 0;
}

/* The number of an object met before, or -1. */
static int64_t seen_find(const struct encoder *e, const JSObject *object)
{
    if (e->slot_count) {
        uint32_t at = e->slots[slot_of(e, object)];
        return at ? (int64_t)at - 1 : -1;
    }
    for (uint32_t i = 0; i < e->seen_count; i++)
        if (e->seen[i] == object)
            return i;
    return -1;
}

static int seen_add(struct encoder *e, JSObject *object)
{
    if (e->seen_count == e->seen_capacity) {
        uint32_t capacity = e->seen_capacity ? e->seen_capacity * 2 : SEEN_LINEAR;
        JSObject **moved = js_realloc(context, e->seen, capacity * sizeof(*moved));
        if (!moved)
            return -1;
        e->seen = moved;
        e->seen_capacity = capacity;
    }
    e->seen[e->seen_count++] = JS_VALUE_GET_OBJ(js_dup(JS_MKPTR(JS_TAG_OBJECT, object)));
    if (e->seen_count > SEEN_LINEAR) {
        if (e->seen_count * 2 > e->slot_count)
            return slots_grow(e);
        e->slots[slot_of(e, object)] = e->seen_count;
    }
    return 0;
}

static void encoder_free(struct encoder *e)
{
    for (uint32_t i = 0; i < e->seen_count; i++)
        JS_FreeValue(context, JS_MKPTR(JS_TAG_OBJECT, e->seen[i]));
    js_free(context, e->seen);
    js_free(context, e->slots);
    js_free(context, e->out.data);
}

/* A data property of the object or its prototypes, or undefined; runs no code of the program. */
static JSValueConst data_property(JSObject *object, JSAtom atom)
{
    JSProperty *property;

    for (int hops = 0; object && hops < 16; hops++) {
        JSShapeProperty *shape = find_own_property(&property, object, atom);
        if (shape)
            return (shape->flags & JS_PROP_TMASK) == JS_PROP_NORMAL ? property->u.value : JS_UNDEFINED;
        object = object->shape->proto;
    }
    return JS_UNDEFINED;
}

/* The value of an own property under the mode's rule about getters. */
static JSValue own_property(struct encoder *e, JSObject *object, JSAtom atom, bool *accessor)
{
    JSProperty *property;
    JSShapeProperty *shape;

    *accessor = false;
    if (e->mode == ENCODE_STRICT)
        return JS_GetProperty(context, JS_MKPTR(JS_TAG_OBJECT, object), atom);
    shape = find_own_property(&property, object, atom);
    if (!shape)
        return JS_UNDEFINED;
    if ((shape->flags & JS_PROP_TMASK) == JS_PROP_NORMAL)
        return js_dup(property->u.value);
    *accessor = true;
    return JS_UNDEFINED;
}

static int encode_hole_or_element(struct encoder *e, JSObject *object, uint32_t index, uint32_t depth,
                                  const struct path_step *path)
{
    struct path_step step = { path, JS_ATOM_NULL, index };
    JSValue element;
    JSAtom atom;
    bool accessor;
    int present, failed;

    if (js_get_fast_array_element(context, object, index, &element)) {
        failed = encode_value(e, element, depth + 1, &step);
        JS_FreeValue(context, element);
        return failed;
    }
    atom = JS_NewAtomUInt32(context, index);
    if (atom == JS_ATOM_NULL)
        return -1;
    present = JS_GetOwnPropertyInternal(context, NULL, object, atom);
    if (present <= 0) {
        JS_FreeAtom(context, atom);
        return present < 0 ? -1 : put_byte(e, TAG_HOLE);
    }
    element = own_property(e, object, atom, &accessor);
    JS_FreeAtom(context, atom);
    if (JS_IsException(element))
        return -1;
    failed = accessor ? put_tagged_text(e, TAG_DESCRIPTION, "[Getter]") : encode_value(e, element, depth + 1, &step);
    JS_FreeValue(context, element);
    return failed;
}

static int encode_array(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    uint32_t length, shown;
    char more[32];

    if (!JS_IsArray(JS_MKPTR(JS_TAG_OBJECT, object)) || JS_ToUint32(context, &length, object->prop[0].u.value))
        return -1;
    shown = e->mode == ENCODE_CLIP && length > CLIP_ELEMENTS ? CLIP_ELEMENTS : length;
    if (shown > e->nodes_left) {
        e->too_large = true;
        return -1;
    }
    if (put_byte(e, TAG_ARRAY) || put_varint(e, shown + (shown < length)))
        return -1;
    for (uint32_t i = 0; i < shown; i++)
        if (encode_hole_or_element(e, object, i, depth, path))
            return -1;
    if (shown == length)
        return 0;
    snprintf(more, sizeof(more), "... %u more items", length - shown);
    return put_tagged_text(e, TAG_DESCRIPTION, more);
}

static int encode_object(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    JSPropertyEnum *names;
    uint32_t count, shown, i = 0;
    int failed = -1;

    if (JS_GetOwnPropertyNames(context, &names, &count, JS_MKPTR(JS_TAG_OBJECT, object),
                               JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return -1;
    shown = e->mode == ENCODE_CLIP && count > CLIP_ELEMENTS ? CLIP_ELEMENTS : count;
    if (shown > e->nodes_left)
        e->too_large = true;
    else if (!put_byte(e, TAG_OBJECT) && !put_varint(e, shown))
        failed = 0;
    for (; !failed && i < shown; i++) {
        struct path_step step = { path, names[i].atom, 0 };
        bool accessor;
        JSValue value = own_property(e, object, names[i].atom, &accessor);

        if (JS_IsException(value) || put_atom(e, names[i].atom))
            failed = -1;
        else if (accessor)
            failed = put_tagged_text(e, TAG_DESCRIPTION, "[Getter]");
        else
            failed = encode_value(e, value, depth + 1, &step);
        JS_FreeValue(context, value);
    }
    js_free_prop_enum(context, names, count);
    return failed;
}

static int encode_collection(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    JSMapState *state = object->u.map_state;
    bool is_map = object->class_id == JS_CLASS_MAP;
    uint32_t count = state->record_count, done = 0;
    struct list_head *at = state->records.next;

    if (count > e->nodes_left) {
        e->too_large = true;
        return -1;
    }
    if (put_byte(e, is_map ? TAG_MAP : TAG_SET) || put_varint(e, count))
        return -1;
    while (at != &state->records && done < count) {
        JSMapRecord *record = list_entry(at, JSMapRecord, link);
        struct path_step step = { path, JS_ATOM_NULL, done };
        JSValue key, value;
        int failed = 0;

        /* Held, since a getter met on the way may delete it. */
        record->ref_count++;
        if (!record->empty) {
            done++;
            key = js_dup(record->key);
            value = is_map ? js_dup(record->value) : JS_UNDEFINED;
            failed = encode_value(e, key, depth + 1, &step) || (is_map && encode_value(e, value, depth + 1, &step));
            JS_FreeValue(context, key);
            JS_FreeValue(context, value);
        }
        at = at->next;
        map_decref_record(runtime, record);
        if (failed || state->record_count != count)
            break;
    }
    if (done == count && state->record_count == count && !e->too_large && !JS_HasException(context))
        return 0;
    if (!JS_HasException(context) && !e->too_large)
        JS_ThrowTypeError(context, "argument changed while it was read");
    return -1;
}

static const uint8_t typed_array_kinds[] = {
    [JS_CLASS_UINT8C_ARRAY - JS_CLASS_UINT8C_ARRAY] = 2,     [JS_CLASS_INT8_ARRAY - JS_CLASS_UINT8C_ARRAY] = 0,
    [JS_CLASS_UINT8_ARRAY - JS_CLASS_UINT8C_ARRAY] = 1,      [JS_CLASS_INT16_ARRAY - JS_CLASS_UINT8C_ARRAY] = 3,
    [JS_CLASS_UINT16_ARRAY - JS_CLASS_UINT8C_ARRAY] = 4,     [JS_CLASS_INT32_ARRAY - JS_CLASS_UINT8C_ARRAY] = 5,
    [JS_CLASS_UINT32_ARRAY - JS_CLASS_UINT8C_ARRAY] = 6,     [JS_CLASS_BIG_INT64_ARRAY - JS_CLASS_UINT8C_ARRAY] = 7,
    [JS_CLASS_BIG_UINT64_ARRAY - JS_CLASS_UINT8C_ARRAY] = 8, [JS_CLASS_FLOAT16_ARRAY - JS_CLASS_UINT8C_ARRAY] = 9,
    [JS_CLASS_FLOAT32_ARRAY - JS_CLASS_UINT8C_ARRAY] = 10,   [JS_CLASS_FLOAT64_ARRAY - JS_CLASS_UINT8C_ARRAY] = 11,
    [JS_CLASS_DATAVIEW - JS_CLASS_UINT8C_ARRAY] = 12,
};

static int encode_typed_array(struct encoder *e, JSObject *object)
{
    JSTypedArray *array = object->u.typed_array;
    JSArrayBuffer *buffer = array->buffer->u.array_buffer;
    uint32_t length = array->length, end = (uint32_t)(buffer->detached ? 0 : buffer->byte_length);

    if (array->track_rab)
        length = end > array->offset ? end - array->offset : 0;
    if (array->offset > end || length > end - array->offset)
        length = 0;
    return put_byte(e, TAG_TYPED_ARRAY) ||
                   put_byte(e, typed_array_kinds[object->class_id - JS_CLASS_UINT8C_ARRAY]) ||
                   put_varint(e, length) || put_bytes(e, buffer->data + array->offset, length)
               ? -1
               : 0;
}

static int encode_regexp(struct encoder *e, JSObject *object)
{
    static const char letters[] = "gimsuydv";
    static const int bits[] = { LRE_FLAG_GLOBAL,  LRE_FLAG_IGNORECASE, LRE_FLAG_MULTILINE, LRE_FLAG_DOTALL,
                                LRE_FLAG_UNICODE, LRE_FLAG_STICKY,     LRE_FLAG_INDICES,   LRE_FLAG_UNICODE_SETS };
    int set = lre_get_flags(str8(object->u.regexp.bytecode));
    char flags[9];
    uint32_t count = 0;

    for (uint32_t i = 0; i < countof(bits); i++)
        if (set & bits[i])
            flags[count++] = letters[i];
    return put_byte(e, TAG_REGEXP) || put_js_string(e, JS_MKPTR(JS_TAG_STRING, object->u.regexp.pattern)) ||
                   put_text(e, flags, count)
               ? -1
               : 0;
}

static int put_text_property(struct encoder *e, JSObject *object, JSAtom atom, const char *otherwise)
{
    JSValueConst value = data_property(object, atom);

    if (JS_IsString(value))
        return put_js_string(e, value);
    return put_text(e, otherwise, strlen(otherwise));
}

static int encode_error(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    JSProperty *property;
    JSShapeProperty *cause = find_own_property(&property, object, JS_ATOM_cause);
    JSValue cause_value = cause && (cause->flags & JS_PROP_TMASK) == JS_PROP_NORMAL ? js_dup(property->u.value)
                                                                                    : JS_UNINITIALIZED;
    JSValueConst errors = data_property(object, JS_ATOM_errors);
    bool has_stack = JS_IsString(object->u.object_data);
    bool has_errors = JS_IsArray(errors);
    bool has_cause = !JS_IsUninitialized(cause_value);
    int failed;

    failed = put_byte(e, TAG_ERROR) || put_text_property(e, object, JS_ATOM_name, "Error") ||
             put_text_property(e, object, JS_ATOM_message, "") ||
             put_byte(e, (has_stack ? ERROR_HAS_STACK : 0) | (has_cause ? ERROR_HAS_CAUSE : 0) |
                             (has_errors ? ERROR_HAS_ERRORS : 0));
    if (!failed && has_stack)
        failed = put_js_string(e, object->u.object_data);
    if (!failed && has_cause) {
        struct path_step step = { path, JS_ATOM_cause, 0 };
        failed = encode_value(e, cause_value, depth + 1, &step);
    }
    if (!failed && has_errors) {
        JSObject *list = JS_VALUE_GET_OBJ(js_dup(errors));
        struct path_step step = { path, JS_ATOM_errors, 0 };
        uint32_t length = 0;

        failed = JS_ToUint32(context, &length, list->prop[0].u.value);
        if (!failed && length > e->nodes_left) {
            e->too_large = true;
            failed = -1;
        }
        failed = failed || put_varint(e, length);
        for (uint32_t i = 0; !failed && i < length; i++)
            failed = encode_hole_or_element(e, list, i, depth + 1, &step);
        JS_FreeValue(context, JS_MKPTR(JS_TAG_OBJECT, list));
    }
    JS_FreeValue(context, cause_value);
    return failed ? -1 : 0;
}

/* Plain: made by a literal, Object.create(null) or decoding. Everything else with this class id is an instance. */
static bool is_plain(const JSObject *object)
{
    const JSObject *proto = object->shape->proto;

    return !proto || proto == JS_VALUE_GET_OBJ(context->class_proto[JS_CLASS_OBJECT]);
}

static int encode_instance(struct encoder *e, JSObject *object, const struct path_step *path)
{
    char what[160], description[96];
    const char *name = NULL;
    JSValueConst constructor = data_property(object, JS_ATOM_constructor);

    if (JS_IsObject(constructor)) {
        JSValueConst text = data_property(JS_VALUE_GET_OBJ(constructor), JS_ATOM_name);
        if (JS_IsString(text))
            name = JS_ToCString(context, text);
    }
    if (!name || !name[0]) {
        JS_FreeCString(context, name);
        name = JS_AtomToCString(context, context->rt->class_array[object->class_id].class_name);
    }
    snprintf(what, sizeof(what), "an instance of %.64s cannot cross, pass a plain object", name ? name : "a class");
    snprintf(description, sizeof(description), "[%.64s]", name ? name : "object");
    JS_FreeCString(context, name);
    return encode_foreign(e, what, description, path);
}

static int encode_function(struct encoder *e, JSObject *object, const struct path_step *path)
{
    char description[96];
    JSValueConst text = data_property(object, JS_ATOM_name);
    const char *name = JS_IsString(text) ? JS_ToCString(context, text) : NULL;

    if (name && name[0])
        snprintf(description, sizeof(description), "[Function: %.64s]", name);
    else
        snprintf(description, sizeof(description), "[Function (anonymous)]");
    JS_FreeCString(context, name);
    return encode_foreign(e, "a function cannot cross", description, path);
}

static int encode_known(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    double time;

    switch (object->class_id) {
    case JS_CLASS_ARRAY:
        return encode_array(e, object, depth, path);
    case JS_CLASS_OBJECT:
        return encode_object(e, object, depth, path);
    case JS_CLASS_MAP:
    case JS_CLASS_SET:
        return encode_collection(e, object, depth, path);
    case JS_CLASS_ERROR:
        return encode_error(e, object, depth, path);
    case JS_CLASS_DATE:
        if (JS_ToFloat64(context, &time, object->u.object_data))
            return -1;
        return put_number(e, TAG_DATE, time);
    case JS_CLASS_REGEXP:
        return encode_regexp(e, object);
    case JS_CLASS_ARRAY_BUFFER: {
        JSArrayBuffer *buffer = object->u.array_buffer;
        uint32_t length = buffer->detached ? 0 : (uint32_t)buffer->byte_length;
        return put_byte(e, TAG_ARRAY_BUFFER) || put_varint(e, length) || put_bytes(e, buffer->data, length) ? -1 : 0;
    }
    default:
        return encode_typed_array(e, object);
    }
}

static bool has_wire_form(const JSObject *object)
{
    switch (object->class_id) {
    case JS_CLASS_OBJECT:
        return is_plain(object);
    case JS_CLASS_ARRAY:
    case JS_CLASS_MAP:
    case JS_CLASS_SET:
    case JS_CLASS_ERROR:
    case JS_CLASS_DATE:
    case JS_CLASS_REGEXP:
    case JS_CLASS_ARRAY_BUFFER:
        return true;
    default:
        return object->class_id >= JS_CLASS_UINT8C_ARRAY && object->class_id <= JS_CLASS_DATAVIEW;
    }
}

static int encode_any_object(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    int64_t seen;

    switch (object->class_id) {
    case JS_CLASS_NUMBER:
    case JS_CLASS_STRING:
    case JS_CLASS_BOOLEAN:
    case JS_CLASS_BIG_INT:
        return encode_value(e, object->u.object_data, depth, path);
    case JS_CLASS_PROMISE:
        return encode_foreign(e, "a promise cannot cross, await it first", "[Promise]", path);
    default:
        break;
    }
    if (JS_IsFunction(context, JS_MKPTR(JS_TAG_OBJECT, object)))
        return encode_function(e, object, path);
    if (!has_wire_form(object))
        return encode_instance(e, object, path);
    seen = seen_find(e, object);
    if (seen >= 0)
        return put_byte(e, TAG_REF) || put_varint(e, (uint32_t)seen) ? -1 : 0;
    if (depth >= limits.depth || js_check_stack_overflow(runtime, 0)) {
        if (e->mode == ENCODE_CLIP)
            return put_tagged_text(e, TAG_DESCRIPTION, "[...]");
        e->too_large = true;
        return -1;
    }
    if (seen_add(e, object))
        return -1;
    return encode_known(e, object, depth, path);
}

static int encode_value(struct encoder *e, JSValueConst value, uint32_t depth, const struct path_step *path)
{
    if (e->nodes_left == 0) {
        e->too_large = true;
        return -1;
    }
    e->nodes_left--;
    switch (JS_VALUE_GET_NORM_TAG(value)) {
    case JS_TAG_UNDEFINED:
    case JS_TAG_UNINITIALIZED:
        return put_byte(e, TAG_UNDEFINED);
    case JS_TAG_NULL:
        return put_byte(e, TAG_NULL);
    case JS_TAG_BOOL:
        return put_byte(e, JS_VALUE_GET_BOOL(value) ? TAG_TRUE : TAG_FALSE);
    case JS_TAG_INT:
        return encode_number(e, JS_VALUE_GET_INT(value));
    case JS_TAG_FLOAT64:
        return encode_number(e, JS_VALUE_GET_FLOAT64(value));
    case JS_TAG_BIG_INT:
    case JS_TAG_SHORT_BIG_INT:
        return encode_bigint(e, value);
    case JS_TAG_STRING:
    case JS_TAG_STRING_ROPE:
        return put_byte(e, TAG_STRING) || put_js_string(e, value) ? -1 : 0;
    case JS_TAG_OBJECT:
        return encode_any_object(e, JS_VALUE_GET_OBJ(value), depth, path);
    default:
        return encode_foreign(e, "a symbol cannot cross", "[Symbol]", path);
    }
}

/* ---- decoding ---- */

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
        defined = JS_IsException(value) ? -1 : JS_DefinePropertyValue(context, object, atom, value, JS_PROP_C_W_E);
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
    if (class_id == JS_CLASS_DATAVIEW) {
        JSValue constructor = JS_GetPropertyStr(context, context->global_obj, "DataView");
        array = js_dataview_constructor(context, constructor, 1, argv);
        JS_FreeValue(context, constructor);
    } else {
        array = JS_NewTypedArray(context, 1, argv, (JSTypedArrayEnum)(class_id - JS_CLASS_UINT8C_ARRAY));
    }
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
    case TAG_REF:
        if (take_varint(d, &number))
            return JS_EXCEPTION;
        return number < d->seen_count ? js_dup(JS_MKPTR(JS_TAG_OBJECT, d->seen[number])) : decode_bad();
    default:
        return decode_bad();
    }
}
