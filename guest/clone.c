/* structuredClone. It copies what the HTML standard says can be copied; instances of a program's classes become plain
 * objects, and getters of what is cloned run, as everywhere. Depth is bounded, and a long clone can be stopped.
 */

/* Levels of a value; deeper is a RangeError. */
#define CLONE_DEPTH 1000

struct cloner {
    struct encoder met; /* of which only `seen` is used */
    JSValue *copies;    /* of the objects in `seen`, in the same order */
    uint32_t capacity;
};

static JSValue clone_value(struct cloner *c, JSValueConst value, uint32_t depth);

static JSValue throw_not_cloneable(JSValueConst value)
{
    char what[128], name[65] = "";
    JSObject *object = JS_IsObject(value) ? JS_VALUE_GET_OBJ(value) : NULL;
    JSValueConst text;

    if (!object)
        return JS_ThrowDOMException(context, "DataCloneError", "a symbol could not be cloned");
    if (JS_IsFunction(context, value)) {
        text = data_property(object, JS_ATOM_name);
        if (JS_IsString(text))
            string_head(name, sizeof(name), text);
        snprintf(what, sizeof(what), "function %s", name[0] ? name : "(anonymous)");
    } else {
        JSValue kind = JS_AtomToString(context, runtime->class_array[object->class_id].class_name);

        if (JS_IsException(kind))
            return JS_EXCEPTION;
        string_head(name, sizeof(name), kind);
        JS_FreeValue(context, kind);
        snprintf(what, sizeof(what), "#<%s>", name);
    }
    return JS_ThrowDOMException(context, "DataCloneError", "%s could not be cloned", what);
}

/* Notes the copy of an object, which is then that of each further reference. Takes neither value. */
static int clone_note(struct cloner *c, JSObject *object, JSValueConst copy)
{
    uint32_t at;

    if (JS_IsException(copy))
        return -1;
    if (c->met.seen_count == c->capacity) {
        uint32_t capacity = c->capacity ? c->capacity * 2 : 16;
        JSValue *moved = js_realloc(context, c->copies, capacity * sizeof(*moved));
        if (!moved)
            return -1;
        c->copies = moved;
        c->capacity = capacity;
    }
    at = c->met.seen_count;
    c->copies[at] = js_dup(copy);
    if (!seen_add(&c->met, object))
        return 0;
    if (c->met.seen_count == at)
        JS_FreeValue(context, copy);
    return -1;
}

/* As `clone_note`, for a copy that is complete: gives it back, or frees it. */
static JSValue clone_noted(struct cloner *c, JSObject *object, JSValue copy)
{
    if (!clone_note(c, object, copy))
        return copy;
    JS_FreeValue(context, copy);
    return JS_EXCEPTION;
}

static void cloner_free(struct cloner *c)
{
    for (uint32_t i = 0; i < c->met.seen_count; i++)
        JS_FreeValue(context, c->copies[i]);
    js_free(context, c->copies);
    encoder_free(&c->met);
}

static int clone_property(struct cloner *c, JSValueConst from, JSValueConst to, JSAtom atom, uint32_t depth)
{
    JSValue value = JS_GetProperty(context, from, atom), copy;

    if (JS_IsException(value))
        return -1;
    copy = clone_value(c, value, depth + 1);
    JS_FreeValue(context, value);
    return JS_IsException(copy) || JS_DefinePropertyValue(context, to, atom, copy, JS_PROP_C_W_E) < 0 ? -1 : 0;
}

static int clone_properties(struct cloner *c, JSObject *object, JSValueConst to, uint32_t depth)
{
    JSValueConst from = JS_MKPTR(JS_TAG_OBJECT, object);
    JSPropertyEnum *names;
    uint32_t count;
    int status = 0;

    if (JS_GetOwnPropertyNames(context, &names, &count, from, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return -1;
    for (uint32_t i = 0; !status && i < count; i++) {
        int present = 1;

        /* A getter before may have deleted it. */
        if (i > 0)
            present = JS_GetOwnPropertyInternal(context, NULL, object, names[i].atom);
        status = present < 0 ? -1 : present ? clone_property(c, from, to, names[i].atom, depth) : 0;
    }
    js_free_prop_enum(context, names, count);
    return status;
}

static JSValue clone_array(struct cloner *c, JSObject *object, uint32_t depth)
{
    JSValue copy = JS_NewArray(context);
    uint32_t length;

    if (clone_note(c, object, copy))
        goto fail;
    if (array_length(JS_MKPTR(JS_TAG_OBJECT, object), &length) || clone_properties(c, object, copy, depth))
        goto fail;
    if (JS_DefinePropertyValue(context, copy, JS_ATOM_length, JS_NewUint32(context, length), JS_PROP_WRITABLE) < 0)
        goto fail;
    return copy;
fail:
    JS_FreeValue(context, copy);
    return JS_EXCEPTION;
}

static JSValue clone_plain(struct cloner *c, JSObject *object, uint32_t depth)
{
    JSValue copy = JS_NewObject(context);

    if (!clone_note(c, object, copy) && !clone_properties(c, object, copy, depth))
        return copy;
    JS_FreeValue(context, copy);
    return JS_EXCEPTION;
}

/* Its entries are taken first: a getter met on the way may change it. */
static int clone_entries(struct cloner *c, JSObject *object, JSValueConst copy, uint32_t depth)
{
    bool is_map = object->class_id == JS_CLASS_MAP;
    struct sequence parts = { 0 };
    struct list_head *at;
    int status = 0;

    list_for_each(at, &object->u.map_state->records) {
        JSMapRecord *record = list_entry(at, JSMapRecord, link);

        if (record->empty)
            continue;
        status = sequence_add(&parts, js_dup(record->key));
        if (!status && is_map)
            status = sequence_add(&parts, js_dup(record->value));
        if (status)
            break;
    }
    for (uint32_t i = 0; !status && i < parts.count; i += is_map ? 2 : 1) {
        JSValue pair[2] = { clone_value(c, parts.items[i], depth + 1), JS_UNDEFINED }, done = JS_EXCEPTION;

        if (is_map && !JS_IsException(pair[0]))
            pair[1] = clone_value(c, parts.items[i + 1], depth + 1);
        if (!JS_IsException(pair[0]) && !JS_IsException(pair[1]))
            done = js_map_set(context, copy, 2, vc(pair), is_map ? 0 : MAGIC_SET);
        JS_FreeValue(context, pair[0]);
        JS_FreeValue(context, pair[1]);
        JS_FreeValue(context, done);
        status = JS_IsException(done) ? -1 : 0;
    }
    sequence_free(&parts);
    return status;
}

static JSValue clone_collection(struct cloner *c, JSObject *object, uint32_t depth)
{
    JSValue copy =
        js_map_constructor(context, JS_UNDEFINED, 0, NULL, object->class_id == JS_CLASS_MAP ? 0 : MAGIC_SET);

    if (!clone_note(c, object, copy) && !clone_entries(c, object, copy, depth))
        return copy;
    JS_FreeValue(context, copy);
    return JS_EXCEPTION;
}

/* A property that holds text of an error, or undefined. */
static JSValue error_text(JSObject *object, JSAtom atom)
{
    JSValueConst value = data_property(object, atom);

    return JS_IsString(value) ? JS_ToString(context, value) : JS_UNDEFINED;
}

static JSValue new_named_error(JSObject *object)
{
    JSValueConst name = data_property(object, JS_ATOM_name);
    static const char *const names[] = { "EvalError",   "RangeError", "ReferenceError",
                                         "SyntaxError", "TypeError",  "URIError" };
    const char *text = JS_IsString(name) ? JS_ToCString(context, name) : NULL, *known = "Error";
    JSValue message = error_text(object, JS_ATOM_message);

    for (uint32_t i = 0; text && i < countof(names); i++)
        if (!strcmp(names[i], text))
            known = names[i];
    JS_FreeCString(context, text);
    if (JS_IsUndefined(message))
        message = js_empty_string(runtime);
    return new_error(known, (uint32_t)strlen(known), message);
}

static JSValue clone_error(struct cloner *c, JSObject *object, uint32_t depth)
{
    JSValue copy = new_named_error(object), cause;
    JSProperty *property;
    JSShapeProperty *shape;

    if (clone_note(c, object, copy))
        goto fail;
    if (JS_IsString(object->u.object_data))
        set_value(context, &JS_VALUE_GET_OBJ(copy)->u.object_data, js_dup(object->u.object_data));
    shape = find_own_property(&property, object, JS_ATOM_cause);
    if (shape && (shape->flags & JS_PROP_TMASK) == JS_PROP_NORMAL) {
        JSValue held = js_dup(property->u.value);

        cause = clone_value(c, held, depth + 1);
        JS_FreeValue(context, held);
        if (JS_IsException(cause) || JS_DefinePropertyValue(context, copy, JS_ATOM_cause, cause,
                                                            JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE) < 0)
            goto fail;
    }
    return copy;
fail:
    JS_FreeValue(context, copy);
    return JS_EXCEPTION;
}

static JSValue clone_dom_exception(struct cloner *c, JSObject *object)
{
    JSDOMExceptionData *data = JS_GetOpaque(JS_MKPTR(JS_TAG_OBJECT, object), JS_CLASS_DOM_EXCEPTION);
    JSValueConst arguments[2];

    if (!data)
        return throw_not_cloneable(JS_MKPTR(JS_TAG_OBJECT, object));
    arguments[0] = data->message;
    arguments[1] = data->name;
    return clone_noted(c, object, js_domexception_constructor0(context, JS_UNDEFINED, 2, arguments, 0));
}

static JSValue clone_buffer(struct cloner *c, JSObject *object)
{
    JSArrayBuffer *buffer = object->u.array_buffer;
    JSValue copy;

    if (buffer->detached)
        return JS_ThrowDOMException(context, "DataCloneError", "a detached ArrayBuffer could not be cloned");
    if (array_buffer_is_resizable(buffer)) {
        uint64_t most = (uint64_t)buffer->max_byte_length;

        copy = js_array_buffer_constructor1(context, JS_UNDEFINED, (uint64_t)buffer->byte_length, &most);
        if (!JS_IsException(copy) && buffer->byte_length > 0)
            memcpy(JS_VALUE_GET_OBJ(copy)->u.array_buffer->data, buffer->data, (size_t)buffer->byte_length);
    } else {
        copy = JS_NewArrayBufferCopy(context, buffer->data, (size_t)buffer->byte_length);
    }
    return clone_noted(c, object, copy);
}

static JSValue clone_view(struct cloner *c, JSObject *object, uint32_t depth)
{
    JSTypedArray *view = object->u.typed_array;
    bool is_data_view = object->class_id == JS_CLASS_DATAVIEW;
    uint32_t unit = is_data_view ? 0 : (uint32_t)typed_array_size_log2(object->class_id);
    JSValue buffer, copy;
    JSValueConst arguments[3];

    if (view->buffer->u.array_buffer->detached || view->offset > (uint32_t)view->buffer->u.array_buffer->byte_length)
        return JS_ThrowDOMException(context, "DataCloneError", "a view on a detached buffer could not be cloned");
    buffer = clone_value(c, JS_MKPTR(JS_TAG_OBJECT, view->buffer), depth + 1);
    if (JS_IsException(buffer))
        return buffer;
    arguments[0] = buffer;
    arguments[1] = JS_NewUint32(context, view->offset);
    arguments[2] = view->track_rab ? JS_UNDEFINED : JS_NewUint32(context, view->length >> unit);
    if (is_data_view)
        copy = js_dataview_constructor(context, JS_UNDEFINED, 3, arguments);
    else
        copy = JS_NewTypedArray(context, 3, arguments, (JSTypedArrayEnum)(object->class_id - JS_CLASS_UINT8C_ARRAY));
    JS_FreeValue(context, buffer);
    return clone_noted(c, object, copy);
}

static JSValue clone_regexp(struct cloner *c, JSObject *object)
{
    JSValueConst pattern = JS_MKPTR(JS_TAG_STRING, object->u.regexp.pattern);
    JSValueConst bytecode = JS_MKPTR(JS_TAG_STRING, object->u.regexp.bytecode);

    return clone_noted(c, object,
                       js_regexp_constructor_internal(context, JS_UNDEFINED, js_dup(pattern), js_dup(bytecode)));
}

static JSValue clone_date(struct cloner *c, JSObject *object)
{
    double time;

    if (JS_ToFloat64(context, &time, object->u.object_data))
        return JS_EXCEPTION;
    return clone_noted(c, object, JS_NewDate(context, time));
}

static JSValue clone_object(struct cloner *c, JSObject *object, uint32_t depth)
{
    if (handle_of(object))
        return js_dup(JS_MKPTR(JS_TAG_OBJECT, object)); /* a copy of it would be the same one */
    switch (object->class_id) {
    case JS_CLASS_OBJECT:
    case JS_CLASS_ARGUMENTS:
    case JS_CLASS_MAPPED_ARGUMENTS:
        return clone_plain(c, object, depth);
    case JS_CLASS_ARRAY:
        return clone_array(c, object, depth);
    case JS_CLASS_MAP:
    case JS_CLASS_SET:
        return clone_collection(c, object, depth);
    case JS_CLASS_ERROR:
        return clone_error(c, object, depth);
    case JS_CLASS_DOM_EXCEPTION:
        return clone_dom_exception(c, object);
    case JS_CLASS_NUMBER:
    case JS_CLASS_STRING:
    case JS_CLASS_BOOLEAN:
    case JS_CLASS_BIG_INT:
        return clone_noted(c, object, JS_ToObject(context, object->u.object_data));
    case JS_CLASS_DATE:
        return clone_date(c, object);
    case JS_CLASS_REGEXP:
        return clone_regexp(c, object);
    case JS_CLASS_ARRAY_BUFFER:
        return clone_buffer(c, object);
    default:
        if (object->class_id >= JS_CLASS_UINT8C_ARRAY && object->class_id <= JS_CLASS_DATAVIEW)
            return clone_view(c, object, depth);
        return throw_not_cloneable(JS_MKPTR(JS_TAG_OBJECT, object));
    }
}

static JSValue clone_value(struct cloner *c, JSValueConst value, uint32_t depth)
{
    int64_t seen;

    if (JS_IsSymbol(value))
        return throw_not_cloneable(value);
    if (!JS_IsObject(value))
        return js_dup(value);
    seen = seen_find(&c->met, JS_VALUE_GET_OBJ(value));
    if (seen >= 0)
        return js_dup(c->copies[seen]);
    if (js_poll_interrupts(context))
        return JS_EXCEPTION;
    if (depth >= CLONE_DEPTH || js_check_stack_overflow(runtime, 0))
        return JS_ThrowRangeError(context, "structuredClone: the value is deeper than %d levels", CLONE_DEPTH);
    return clone_object(c, JS_VALUE_GET_OBJ(value), depth);
}

/* Buffers that move: their copies are made first, so that each reference becomes the new one. */
static int clone_transfers(struct cloner *c, const struct sequence *transfer)
{
    for (uint32_t i = 0; i < transfer->count; i++) {
        JSValueConst value = transfer->items[i];
        JSValue copy;

        if (JS_GetClassID(value) != JS_CLASS_ARRAY_BUFFER) {
            JS_ThrowDOMException(context, "DataCloneError", "only an ArrayBuffer can be transferred");
            return -1;
        }
        if (seen_find(&c->met, JS_VALUE_GET_OBJ(value)) >= 0) {
            JS_ThrowDOMException(context, "DataCloneError", "an ArrayBuffer is transferred twice");
            return -1;
        }
        copy = clone_buffer(c, JS_VALUE_GET_OBJ(value));
        if (JS_IsException(copy))
            return -1;
        JS_FreeValue(context, copy);
    }
    return 0;
}

static int transfer_list(struct sequence *transfer, JSValueConst options)
{
    JSValue list;
    int status = 0;

    if (!JS_IsObject(options))
        return 0;
    list = JS_GetPropertyStr(context, options, "transfer");
    if (JS_IsException(list))
        return -1;
    if (!JS_IsUndefined(list))
        status = sequence_of(transfer, list);
    JS_FreeValue(context, list);
    return status;
}

static JSValue structured_clone(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct cloner c = { 0 };
    struct sequence transfer = { 0 };
    JSValue copy = JS_EXCEPTION;

    (void)this_value;
    if (argc < 1)
        return JS_ThrowTypeError(ctx, "structuredClone takes a value");
    if (!transfer_list(&transfer, argc > 1 ? argv[1] : JS_UNDEFINED) && !clone_transfers(&c, &transfer))
        copy = clone_value(&c, argv[0], 0);
    if (!JS_IsException(copy))
        for (uint32_t i = 0; i < transfer.count; i++)
            JS_DetachArrayBuffer(ctx, transfer.items[i]);
    sequence_free(&transfer);
    cloner_free(&c);
    return copy;
}
