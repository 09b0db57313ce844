/* Handles: opaque objects for values that the host keeps. A program may hold one, compare it and pass it on; whatever would
 * read it throws. Only an answer of the host makes one, and a number has one object at a time.
 */

struct handle {
    uint32_t id;
    JSAtom name; /* of the capability that the value came from */
};

static JSClassID handle_class;

static struct {
    JSObject **alive; /* by number; borrowed */
    uint32_t alive_count;
    uint32_t *freed; /* numbers whose objects are gone, and the host has not been told */
    uint32_t freed_count;
    uint32_t capacity; /* of each list: as many as are in both, since a finalizer may not allocate */
} handles;

static struct handle *handle_of(const JSObject *object)
{
    return object->class_id == handle_class ? object->u.opaque : NULL;
}

/* The place of a number among those alive, or where it would be. */
static uint32_t handle_place(uint32_t id)
{
    uint32_t low = 0, high = handles.alive_count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (handle_of(handles.alive[middle])->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int handles_reserve(void)
{
    uint32_t capacity = handles.capacity ? handles.capacity * 2 : 8;
    JSObject **alive;
    uint32_t *freed;

    if (handles.alive_count + handles.freed_count < handles.capacity)
        return 0;
    alive = js_realloc(context, handles.alive, capacity * sizeof(*alive));
    if (!alive)
        return -1;
    handles.alive = alive;
    freed = js_realloc(context, handles.freed, capacity * sizeof(*freed));
    if (!freed)
        return -1;
    handles.freed = freed;
    handles.capacity = capacity;
    return 0;
}

static void handle_finalize(JSRuntime *rt, JSValueConst value)
{
    struct handle *handle = JS_GetOpaque(value, handle_class);
    uint32_t place;

    if (!handle)
        return;
    place = handle_place(handle->id);
    handles.alive_count--;
    memmove(&handles.alive[place], &handles.alive[place + 1], (handles.alive_count - place) * sizeof(*handles.alive));
    handles.freed[handles.freed_count++] = handle->id;
    JS_FreeAtomRT(rt, handle->name);
    js_free_rt(rt, handle);
}

/* The object of a number, made unless there is one. */
static JSValue handle_make(uint32_t id, const char *name, uint32_t name_length)
{
    uint32_t place = handle_place(id);
    struct handle *handle;
    JSValue object;

    if (place < handles.alive_count && handle_of(handles.alive[place])->id == id)
        return js_dup(JS_MKPTR(JS_TAG_OBJECT, handles.alive[place]));
    if (handles_reserve())
        return JS_EXCEPTION;
    object = JS_NewObjectProtoClass(context, JS_NULL, handle_class);
    if (JS_IsException(object))
        return object;
    handle = js_malloc(context, sizeof(*handle));
    if (handle) {
        handle->id = id;
        handle->name = JS_NewAtomLen(context, name, name_length);
    }
    if (!handle || handle->name == JS_ATOM_NULL) {
        js_free(context, handle);
        JS_FreeValue(context, object);
        return JS_EXCEPTION;
    }
    JS_SetOpaqueInternal(object, handle);
    JS_VALUE_GET_OBJ(object)->extensible = false;
    /* No allocation from here on; those above may have collected handles, and moved the place. */
    place = handle_place(id);
    memmove(&handles.alive[place + 1], &handles.alive[place], (handles.alive_count - place) * sizeof(*handles.alive));
    handles.alive[place] = JS_VALUE_GET_OBJ(object);
    handles.alive_count++;
    return object;
}

/* ---- what a program meets ---- */

static int handle_refuse(void)
{
    JS_ThrowTypeError(context, "a handle cannot be read: await reveal(handle) gives the value");
    return -1;
}

/* Whether a property stands for the value: all but what the language and careful programs ask any object for. */
static bool handle_hides(JSAtom atom)
{
    switch (atom) {
    case JS_ATOM_then:
    case JS_ATOM_constructor:
        return false;
    case JS_ATOM_Symbol_toPrimitive:
    case JS_ATOM_Symbol_iterator:
    case JS_ATOM_Symbol_asyncIterator:
        return true;
    default:
        return JS_AtomGetKind(context, atom) == JS_ATOM_KIND_STRING;
    }
}

static JSValue handle_get(JSContext *ctx, JSValueConst object, JSAtom atom, JSValueConst receiver)
{
    (void)object;
    (void)receiver;
    if (atom == JS_ATOM_Symbol_toStringTag)
        return JS_NewString(ctx, "Handle");
    if (handle_hides(atom)) {
        handle_refuse();
        return JS_EXCEPTION;
    }
    return JS_UNDEFINED;
}

static int handle_has(JSContext *ctx, JSValueConst object, JSAtom atom)
{
    (void)ctx;
    (void)object;
    return handle_hides(atom) ? handle_refuse() : false;
}

static int handle_own(JSContext *ctx, JSPropertyDescriptor *descriptor, JSValueConst object, JSAtom atom)
{
    (void)descriptor;
    return handle_has(ctx, object, atom);
}

/* Whether names are asked for by themselves, or by what looks for no value, as `Object.freeze`. A loop, a spread and
 * `Object.entries` want the values.
 */
static bool wants_names_alone(void)
{
    const JSStackFrame *frame = runtime->current_stack_frame;
    const JSObject *asks = frame && JS_IsObject(frame->cur_func) ? JS_VALUE_GET_OBJ(frame->cur_func) : NULL;
    JSCFunctionType function;

    if (!asks || asks->class_id != JS_CLASS_C_FUNCTION)
        return false;
    function = asks->u.cfunc.c_function;
    return (function.generic_magic == js_object_keys && asks->u.cfunc.magic == JS_ITERATOR_KIND_KEY) ||
           function.generic == js_object_getOwnPropertyNames || function.generic == js_object_getOwnPropertySymbols ||
           function.generic == js_reflect_ownKeys || function.generic_magic == js_object_seal ||
           function.generic_magic == js_object_isSealed;
}

static int handle_names(JSContext *ctx, JSPropertyEnum **names, uint32_t *count, JSValueConst object)
{
    (void)ctx;
    (void)object;
    *names = NULL;
    *count = 0;
    return wants_names_alone() ? 0 : handle_refuse();
}

static int handle_set(JSContext *ctx, JSValueConst object, JSAtom atom, JSValueConst value, JSValueConst receiver, int flags)
{
    (void)object;
    (void)atom;
    (void)value;
    (void)receiver;
    return JS_ThrowTypeErrorOrFalse(ctx, flags, "a handle cannot be changed");
}

static int handle_define(JSContext *ctx, JSValueConst object, JSAtom atom, JSValueConst value, JSValueConst getter,
                         JSValueConst setter, int flags)
{
    (void)object;
    (void)atom;
    (void)value;
    (void)getter;
    (void)setter;
    return JS_ThrowTypeErrorOrFalse(ctx, flags, "a handle cannot be changed");
}

static int handle_class_init(void)
{
    static JSClassExoticMethods exotic = {
        .get_own_property = handle_own,
        .get_own_property_names = handle_names,
        .define_own_property = handle_define,
        .has_property = handle_has,
        .get_property = handle_get,
        .set_property = handle_set,
    };
    static const JSClassDef class = { .class_name = "Handle", .finalizer = handle_finalize, .exotic = &exotic };

    JS_NewClassID(runtime, &handle_class);
    return JS_NewClass(runtime, handle_class, &class);
}
