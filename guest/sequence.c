/* The items of what a program passes as a list. Arrays, sets and maps are read as they are, so that a program that changed
 * their iterators gets the same; anything else is iterated as the language says, by code of the program's.
 */

struct sequence {
    JSValue *items;
    uint32_t count;
    uint32_t capacity;
};

static void sequence_free(struct sequence *s)
{
    while (s->count)
        JS_FreeValue(context, s->items[--s->count]);
    js_free(context, s->items);
    memset(s, 0, sizeof(*s));
}

/* Takes the item, also when it fails. */
static int sequence_add(struct sequence *s, JSValue item)
{
    if (JS_IsException(item))
        return -1;
    if (s->count == s->capacity) {
        uint32_t capacity = s->capacity ? s->capacity * 2 : 8;
        JSValue *moved = js_realloc(context, s->items, capacity * sizeof(*moved));
        if (!moved) {
            JS_FreeValue(context, item);
            return -1;
        }
        s->items = moved;
        s->capacity = capacity;
    }
    s->items[s->count++] = item;
    return 0;
}

/* The length of an array, which is never a program's to answer for. */
static int array_length(JSValueConst array, uint32_t *length)
{
    return JS_ToUint32(context, length, JS_VALUE_GET_OBJ(array)->prop[0].u.value);
}

static int sequence_of_array(struct sequence *s, JSValueConst array)
{
    uint32_t length;

    if (array_length(array, &length))
        return -1;
    for (uint32_t i = 0; i < length; i++)
        if (js_poll_interrupts(context) || sequence_add(s, JS_GetPropertyUint32(context, array, i)))
            return -1;
    return 0;
}

static JSValue pair_of(JSValueConst first, JSValueConst second)
{
    JSValueConst items[2] = { first, second };

    return js_create_array(context, 2, items);
}

static int sequence_of_collection(struct sequence *s, JSObject *object)
{
    struct list_head *at;

    list_for_each(at, &object->u.map_state->records) {
        JSMapRecord *record = list_entry(at, JSMapRecord, link);
        bool is_map = object->class_id == JS_CLASS_MAP;

        if (!record->empty &&
            sequence_add(s, is_map ? pair_of(record->key, record->value) : js_dup(record->key)))
            return -1;
    }
    return 0;
}

static int sequence_of_iterator(struct sequence *s, JSValueConst iterable)
{
    JSValue iterator = JS_GetIterator(context, iterable, false), next = JS_UNDEFINED;
    int done = 0, status = JS_IsException(iterator) ? -1 : 0;

    if (!status) {
        next = JS_GetProperty(context, iterator, JS_ATOM_next);
        status = JS_IsException(next) ? -1 : 0;
    }
    while (!status) {
        JSValue item = JS_IteratorNext(context, iterator, next, 0, NULL, &done);

        if (JS_IsException(item))
            status = -1;
        else if (done)
            break;
        else
            status = sequence_add(s, item);
    }
    JS_FreeValue(context, next);
    JS_FreeValue(context, iterator);
    return status;
}

/* Whether the value is a list of some kind: 1, 0, or -1 with an exception. */
static int is_sequence(JSValueConst value)
{
    JSValue method;
    int is;

    if (!JS_IsObject(value))
        return 0;
    switch (JS_VALUE_GET_OBJ(value)->class_id) {
    case JS_CLASS_ARRAY:
    case JS_CLASS_MAP:
    case JS_CLASS_SET:
        return 1;
    default:
        break;
    }
    method = JS_GetProperty(context, value, JS_ATOM_Symbol_iterator);
    if (JS_IsException(method))
        return -1;
    is = !JS_IsUndefined(method) && !JS_IsNull(method);
    JS_FreeValue(context, method);
    return is;
}

/* Fills `s`, which the caller frees in any case. */
static int sequence_of(struct sequence *s, JSValueConst value)
{
    if (!JS_IsObject(value)) {
        JS_ThrowTypeError(context, "a list is expected");
        return -1;
    }
    switch (JS_VALUE_GET_OBJ(value)->class_id) {
    case JS_CLASS_ARRAY:
        return sequence_of_array(s, value);
    case JS_CLASS_MAP:
    case JS_CLASS_SET:
        return sequence_of_collection(s, JS_VALUE_GET_OBJ(value));
    default:
        return sequence_of_iterator(s, value);
    }
}
