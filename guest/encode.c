/* Values to bytes, in the tagged form of abi.h.
 *
 * Three ways: STRICT for arguments (getters run, what cannot cross is an error that names its path), SHOW for a
 * program's result (no code of the program runs, what cannot cross becomes a description) and CLIP for the console (as
 * SHOW, and cut to the budget). One recursion over all kinds of value, which is why the file is long.
 */

/* The value of an own property under the mode's rule about getters. */
static JSValue own_property(struct encoder *e, JSObject *object, JSAtom atom, bool *accessor)
{
    JSValue value;

    *accessor = false;
    if (e->mode == ENCODE_STRICT || !STANDS(DEFENCE_GETTERS_UNRUN))
        return JS_GetProperty(context, JS_MKPTR(JS_TAG_OBJECT, object), atom);
    *accessor = own_data(object, atom, &value) == OWN_ACCESSOR;
    return value;
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
        if (present < 0)
            return -1;
        if (e->nodes_left == 0)
            return too_many_values(e);
        e->nodes_left--;
        return put_byte(e, TAG_HOLE);
    }
    element = own_property(e, object, atom, &accessor);
    JS_FreeAtom(context, atom);
    if (JS_IsException(element))
        return -1;
    failed = accessor ? put_tagged_text(e, TAG_DESCRIPTION, "[Getter]") : encode_value(e, element, depth + 1, &step);
    JS_FreeValue(context, element);
    return failed;
}

/* Stands for what is left out of a long value. */
static int put_more(struct encoder *e, uint32_t count)
{
    char more[32];

    snprintf(more, sizeof(more), "... %u more items", count);
    return put_tagged_text(e, TAG_DESCRIPTION, more);
}

static int encode_array(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    uint32_t length, shown;

    if (!JS_IsArray(JS_MKPTR(JS_TAG_OBJECT, object)) || JS_ToUint32(context, &length, object->prop[0].u.value))
        return -1;
    shown = e->mode == ENCODE_CLIP && length > CLIP_ELEMENTS ? CLIP_ELEMENTS : length;
    if (shown > e->nodes_left)
        return too_many_values(e);
    if (put_byte(e, TAG_ARRAY) || put_varint(e, shown + (shown < length)))
        return -1;
    for (uint32_t i = 0; i < shown; i++)
        if (encode_hole_or_element(e, object, i, depth, path))
            return -1;
    return shown < length ? put_more(e, length - shown) : 0;
}

/* Whether its properties are data without objects, in the order of its shape, so that reading them runs no code: as with rows. */
static bool is_flat(const JSObject *object)
{
    JSShapeProperty *property = get_shape_prop(object->shape);
    uint32_t index;

    if (object->is_exotic)
        return false;
    for (int i = 0; i < object->shape->prop_count; i++, property++)
        if (property->atom == JS_ATOM_NULL || (property->flags & JS_PROP_TMASK) != JS_PROP_NORMAL ||
            !(property->flags & JS_PROP_ENUMERABLE) || JS_IsObject(object->prop[i].u.value) ||
            JS_AtomGetKind(context, property->atom) != JS_ATOM_KIND_STRING ||
            JS_AtomIsArrayIndex(context, &index, property->atom))
            return false;
    return true;
}

static int encode_flat(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    JSShapeProperty *property = get_shape_prop(object->shape);
    int count = object->shape->prop_count;

    if ((uint32_t)count > e->nodes_left)
        return too_many_values(e);
    if (put_byte(e, TAG_OBJECT) || put_varint(e, (uint32_t)count))
        return -1;
    for (int i = 0; i < count; i++) {
        struct path_step step = { path, property[i].atom, 0 };

        if (put_atom(e, property[i].atom) || encode_value(e, object->prop[i].u.value, depth + 1, &step))
            return -1;
    }
    return 0;
}

static int encode_object(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    JSPropertyEnum *names;
    uint32_t count, shown, i = 0;
    int failed = -1;

    if (is_flat(object) && (e->mode != ENCODE_CLIP || object->shape->prop_count <= (int)CLIP_ELEMENTS))
        return encode_flat(e, object, depth, path);
    if (JS_GetOwnPropertyNames(context, &names, &count, JS_MKPTR(JS_TAG_OBJECT, object),
                               JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return -1;
    shown = e->mode == ENCODE_CLIP && count > CLIP_ELEMENTS ? CLIP_ELEMENTS : count;
    if (shown > e->nodes_left)
        too_many_values(e);
    else if (!put_byte(e, TAG_OBJECT) && !put_varint(e, shown + (shown < count)))
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
    if (!failed && shown < count)
        failed = put_text(e, "...", 3) || put_more(e, count - shown) ? -1 : 0;
    js_free_prop_enum(context, names, count);
    return failed;
}

static int encode_collection(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    JSMapState *state = object->u.map_state;
    bool is_map = object->class_id == JS_CLASS_MAP;
    uint32_t count = state->record_count, done = 0;
    struct list_head *at = state->records.next;

    if (count > e->nodes_left)
        return too_many_values(e);
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

/* The bytes of a view on a buffer as they are now: none where the buffer no longer holds all of it. */
static void view_bytes(JSObject *object, uint8_t **data, uint32_t *length)
{
    JSTypedArray *view = object->u.typed_array;
    JSArrayBuffer *buffer = view->buffer->u.array_buffer;
    uint32_t end = buffer->detached ? 0 : (uint32_t)buffer->byte_length, rest = view->offset < end ? end - view->offset : 0;

    *data = rest ? buffer->data + view->offset : NULL;
    *length = view->track_rab ? rest : view->length <= rest ? view->length : 0;
    /* A buffer that was resized may end inside of an element, which then is not one. */
    if (object->class_id != JS_CLASS_DATAVIEW)
        *length &= ~((1u << typed_array_size_log2(object->class_id)) - 1);
}

static int encode_typed_array(struct encoder *e, JSObject *object)
{
    uint8_t *data;
    uint32_t length;

    view_bytes(object, &data, &length);
    return put_byte(e, TAG_TYPED_ARRAY) ||
                   put_byte(e, typed_array_kinds[object->class_id - JS_CLASS_UINT8C_ARRAY]) ||
                   put_varint(e, length) || put_bytes(e, data, length)
               ? -1
               : 0;
}

static int encode_regexp(struct encoder *e, JSObject *object)
{
    static const char letters[] = "gimsuydv";
    static const int bits[] = { LRE_FLAG_GLOBAL,  LRE_FLAG_IGNORECASE, LRE_FLAG_MULTILINE, LRE_FLAG_DOTALL,
                                LRE_FLAG_UNICODE, LRE_FLAG_STICKY,     LRE_FLAG_INDICES,   LRE_FLAG_UNICODE_SETS };
    int set = lre_get_flags(str8(object->u.regexp.bytecode));
    JSValue source = js_regexp_get_source(context, JS_MKPTR(JS_TAG_OBJECT, object)); /* escaped; runs no code */
    char flags[9];
    uint32_t count = 0;
    int failed;

    if (JS_IsException(source))
        return -1;
    for (uint32_t i = 0; i < countof(bits); i++)
        if (set & bits[i])
            flags[count++] = letters[i];
    failed = put_byte(e, TAG_REGEXP) || put_js_string(e, source) || put_text(e, flags, count);
    JS_FreeValue(context, source);
    return failed ? -1 : 0;
}

static int put_text_property(struct encoder *e, JSObject *object, JSAtom atom, const char *otherwise)
{
    JSValueConst value = data_property(object, atom);

    if (JS_IsString(value))
        return put_js_string(e, value);
    return put_text(e, otherwise, strlen(otherwise));
}

/* A value that is left out where it is too large to show. */
static int encode_or_note(struct encoder *e, JSValueConst value, uint32_t depth)
{
    uint32_t before = e->out.length, met = e->seen_count, nodes = e->nodes_left;

    if (!encode_value(e, value, depth, NULL))
        return 0;
    if (JS_HasException(context))
        drop_exception();
    seen_truncate(e, met);
    e->too_large = false;
    e->nodes_left = nodes;
    e->out.length = before;
    e->max_bytes += 32;
    return put_tagged_text(e, TAG_DESCRIPTION, "[too large to show]");
}

/* Texts of an error that is only shown leave room for one another. */
#define CLIP_ERROR_TEXT (16u * 1024u)

static uint32_t narrow(struct encoder *e)
{
    uint32_t whole = e->max_bytes;

    if (e->mode == ENCODE_CLIP && whole - e->out.length > CLIP_ERROR_TEXT)
        e->max_bytes = e->out.length + CLIP_ERROR_TEXT;
    return whole;
}

/* Its own properties beside those that every error has, as one short text; describe.c. */
static int error_details(struct bytes *out, JSObject *error);

static int encode_error(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    struct bytes details = { 0 };
    JSValue cause;
    bool has_cause = own_data(object, JS_ATOM_cause, &cause) == OWN_DATA;
    JSValueConst errors = data_property(object, JS_ATOM_errors);
    bool has_stack = JS_IsString(object->u.object_data);
    bool has_errors = JS_IsArray(errors);
    uint32_t whole = narrow(e);
    int failed;

    if (e->mode != ENCODE_STRICT && error_details(&details, object)) {
        JS_FreeValue(context, cause);
        return -1;
    }
    failed = put_byte(e, TAG_ERROR) || put_text_property(e, object, JS_ATOM_name, "Error") ||
             put_text_property(e, object, JS_ATOM_message, "") ||
             put_byte(e, (has_stack ? ERROR_HAS_STACK : 0) | (has_cause ? ERROR_HAS_CAUSE : 0) |
                             (has_errors ? ERROR_HAS_ERRORS : 0) | (details.length ? ERROR_HAS_DETAILS : 0));
    e->max_bytes = whole;
    narrow(e);
    if (!failed && has_stack)
        failed = put_js_string(e, object->u.object_data);
    e->max_bytes = whole;
    if (!failed && details.length)
        failed = put_text(e, (const char *)details.data, details.length);
    js_free(context, details.data);
    if (!failed && has_cause) {
        struct path_step step = { path, JS_ATOM_cause, 0 };
        failed = e->mode == ENCODE_CLIP ? encode_or_note(e, cause, depth + 1)
                                        : encode_value(e, cause, depth + 1, &step);
    }
    if (!failed && has_errors) {
        JSObject *list = JS_VALUE_GET_OBJ(js_dup(errors));
        struct path_step step = { path, JS_ATOM_errors, 0 };
        uint32_t length = 0;

        failed = JS_ToUint32(context, &length, list->prop[0].u.value);
        if (!failed && length > e->nodes_left)
            failed = too_many_values(e);
        failed = failed || put_varint(e, length);
        for (uint32_t i = 0; !failed && i < length; i++)
            failed = encode_hole_or_element(e, list, i, depth + 1, &step);
        JS_FreeValue(context, JS_MKPTR(JS_TAG_OBJECT, list));
    }
    JS_FreeValue(context, cause);
    return failed ? -1 : 0;
}

/* Plain: made by a literal, Object.create(null) or decoding. Everything else with this class id is an instance. */
static bool is_plain(const JSObject *object)
{
    const JSObject *proto = object->shape->proto;

    return !proto || proto == JS_VALUE_GET_OBJ(context->class_proto[JS_CLASS_OBJECT]);
}

/* An instance of a class as it is shown: its name, then as an object. */
static int encode_class_object(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    char shown[65];
    JSValue name = class_name(object);
    int failed;

    if (JS_IsException(name))
        return -1;
    string_head(shown, sizeof(shown), name);
    JS_FreeValue(context, name);
    failed = put_byte(e, TAG_INSTANCE) || put_text(e, shown, strlen(shown));
    return failed ? -1 : encode_object(e, object, depth, path);
}

/* As an Error of its name. What it holds is not the program's to change, but for its stack. */
static int encode_dom_exception(struct encoder *e, JSObject *object)
{
    JSDOMExceptionData *data = JS_GetOpaque(JS_MKPTR(JS_TAG_OBJECT, object), JS_CLASS_DOM_EXCEPTION);
    JSValueConst stack = data_property(object, JS_ATOM_stack);
    uint32_t whole = narrow(e);
    int failed;

    if (!data)
        return -1;
    failed = put_byte(e, TAG_ERROR) || put_js_string(e, data->name) || put_js_string(e, data->message) ||
             put_byte(e, JS_IsString(stack) ? ERROR_HAS_STACK : 0);
    e->max_bytes = whole;
    narrow(e);
    if (!failed && JS_IsString(stack))
        failed = put_js_string(e, stack);
    e->max_bytes = whole;
    return failed ? -1 : 0;
}

static int encode_known(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    double time;

    switch (object->class_id) {
    case JS_CLASS_ARRAY:
        return encode_array(e, object, depth, path);
    case JS_CLASS_OBJECT:
        return is_plain(object) ? encode_object(e, object, depth, path) : encode_class_object(e, object, depth, path);
    case JS_CLASS_MAP:
    case JS_CLASS_SET:
        return encode_collection(e, object, depth, path);
    case JS_CLASS_ERROR:
        return encode_error(e, object, depth, path);
    case JS_CLASS_DOM_EXCEPTION:
        return encode_dom_exception(e, object);
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
        return object->class_id == tools_class ? encode_object(e, object, depth, path) : encode_typed_array(e, object);
    }
}

static bool has_wire_form(const struct encoder *e, const JSObject *object)
{
    if (object->class_id == tools_class)
        return e->mode != ENCODE_STRICT;
    switch (object->class_id) {
    case JS_CLASS_OBJECT:
        return is_plain(object) || e->mode != ENCODE_STRICT;
    case JS_CLASS_ARRAY:
    case JS_CLASS_MAP:
    case JS_CLASS_SET:
    case JS_CLASS_ERROR:
    case JS_CLASS_DOM_EXCEPTION:
    case JS_CLASS_DATE:
    case JS_CLASS_REGEXP:
    case JS_CLASS_ARRAY_BUFFER:
        return true;
    default:
        return object->class_id >= JS_CLASS_UINT8C_ARRAY && object->class_id <= JS_CLASS_DATAVIEW;
    }
}

/* In full wherever it stands: its number is what it is. */
static int encode_handle(struct encoder *e, const struct handle *handle)
{
    return put_byte(e, TAG_HANDLE) || put_varint(e, handle->id) || put_atom(e, handle->name) ? -1 : 0;
}

static int encode_any_object(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    const struct handle *handle = handle_of(object);
    int64_t seen;

    if (handle)
        return encode_handle(e, handle);
    switch (object->class_id) {
    case JS_CLASS_NUMBER:
    case JS_CLASS_STRING:
    case JS_CLASS_BOOLEAN:
    case JS_CLASS_BIG_INT:
        return encode_value(e, object->u.object_data, depth, path);
    case JS_CLASS_PROMISE:
        return encode_promise(e, object, depth, path);
    default:
        break;
    }
    if (object == JS_VALUE_GET_OBJ(context->global_obj))
        return encode_foreign(e, "globalThis cannot cross", "[globalThis]", path);
    if (JS_IsFunction(context, JS_MKPTR(JS_TAG_OBJECT, object)))
        return encode_function(e, object, path);
    if (!has_wire_form(e, object))
        return encode_instance(e, object, path);
    seen = seen_find(e, object);
    if (seen >= 0)
        return put_byte(e, TAG_REF) || put_varint(e, (uint32_t)seen) ? -1 : 0;
    if (depth >= limits.depth || js_check_stack_overflow(runtime, 0)) {
        if (e->mode != ENCODE_STRICT)
            return put_tagged_text(e, TAG_DESCRIPTION, "[...]");
        e->too_deep = true;
        e->too_large = true;
        return -1;
    }
    if (seen_add(e, object))
        return -1;
    return encode_known(e, object, depth, path);
}

static int encode_value(struct encoder *e, JSValueConst value, uint32_t depth, const struct path_step *path)
{
    if (e->nodes_left == 0)
        return too_many_values(e);
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
        return encode_symbol(e, value, path);
    }
}
