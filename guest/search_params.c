/* The class URLSearchParams. */

static JSClassID params_class, params_iterator_class;

static void params_finalizer(JSRuntime *rt, JSValueConst value)
{
    params_release(rt, JS_GetOpaque(value, params_class));
}

/* ---- the constructor ---- */

static struct params *params_of(JSValueConst value)
{
    return JS_GetOpaque2(context, value, params_class);
}

static int throw_tuple(void)
{
    JS_ThrowTypeError(context, "each query pair must be a list of a name and a value");
    return -1;
}

static int params_from_sequence(struct params *p, JSValueConst value)
{
    struct sequence pairs = { 0 };
    int status = sequence_of(&pairs, value);

    for (uint32_t i = 0; !status && i < pairs.count; i++) {
        struct sequence pair = { 0 };

        status = is_sequence(pairs.items[i]);
        if (status == 0)
            status = throw_tuple();
        else if (status > 0)
            status = sequence_of(&pair, pairs.items[i]);
        if (!status && pair.count != 2)
            status = throw_tuple();
        if (!status)
            status = params_add(p, usv_string(pair.items[0]), usv_string(pair.items[1]));
        sequence_free(&pair);
    }
    sequence_free(&pairs);
    return status;
}

static int params_from_record(struct params *p, JSValueConst value)
{
    JSPropertyEnum *names;
    uint32_t count;
    int status = 0;

    if (JS_GetOwnPropertyNames(context, &names, &count, value, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return -1;
    for (uint32_t i = 0; !status && i < count; i++) {
        JSValue name = JS_AtomToString(context, names[i].atom), item = JS_GetProperty(context, value, names[i].atom);

        if (JS_IsException(name) || JS_IsException(item))
            status = -1;
        else
            status = params_add(p, usv_string(name), usv_string(item));
        JS_FreeValue(context, name);
        JS_FreeValue(context, item);
    }
    js_free_prop_enum(context, names, count);
    return status;
}

static int params_copy(struct params *p, const struct params *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        if (params_add(p, js_dup(from->list[2 * i]), js_dup(from->list[2 * i + 1])))
            return -1;
    return 0;
}

static int params_from_text(struct params *p, JSValueConst value)
{
    struct bytes text = { 0 };
    int status = bytes_of_value(&text, value);
    const uint8_t *at = text.data;

    if (!status && text.length > 0)
        status = params_parse(p, at + (*at == '?'), text.data + text.length);
    bytes_free(&text);
    return status;
}

static int params_fill(struct params *p, JSValueConst from)
{
    int is_list;

    if (JS_IsUndefined(from) || JS_IsNull(from))
        return 0;
    if (!JS_IsObject(from))
        return params_from_text(p, from);
    if (JS_GetClassID(from) == params_class)
        return params_copy(p, JS_GetOpaque(from, params_class));
    is_list = is_sequence(from);
    if (is_list < 0)
        return -1;
    return is_list ? params_from_sequence(p, from) : params_from_record(p, from);
}

/* Takes the list, also when it fails. */
static JSValue params_object(JSValueConst new_target, struct params *p)
{
    JSValue object = new_object_of(new_target, params_class, p);

    if (JS_IsException(object))
        params_release(runtime, p);
    return object;
}

static JSValue params_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    struct params *p;

    (void)ctx;
    if (JS_IsUndefined(new_target))
        return wants_new("URLSearchParams");
    p = params_new();
    if (!p)
        return JS_EXCEPTION;
    if (argc > 0 && params_fill(p, argv[0])) {
        params_release(runtime, p);
        return JS_EXCEPTION;
    }
    return params_object(new_target, p);
}

/* ---- methods ---- */

static JSValue params_append(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct params *p = params_of(this_value);

    if (!p)
        return JS_EXCEPTION;
    if (argc < 2)
        return JS_ThrowTypeError(ctx, "append takes a name and a value");
    return params_add(p, usv_string(argv[0]), usv_string(argv[1])) ? JS_EXCEPTION : JS_UNDEFINED;
}

enum { PARAMS_GET, PARAMS_GET_ALL, PARAMS_HAS, PARAMS_DELETE };

static JSValue params_all(const struct params *p, JSValueConst name)
{
    struct sequence found = { 0 };
    JSValue array = JS_EXCEPTION;
    int status = 0;

    for (uint32_t i = 0; !status && i < p->count; i++)
        if (same_string(p->list[2 * i], name))
            status = sequence_add(&found, js_dup(p->list[2 * i + 1]));
    if (!status)
        array = js_create_array(context, (int)found.count, vc(found.items));
    sequence_free(&found);
    return array;
}

static void params_delete(struct params *p, JSValueConst name, JSValueConst value)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < p->count; i++) {
        JSValue *pair = &p->list[2 * i];

        if (same_string(pair[0], name) && (JS_IsUndefined(value) || same_string(pair[1], value))) {
            JS_FreeValue(context, pair[0]);
            JS_FreeValue(context, pair[1]);
            continue;
        }
        p->list[2 * kept] = pair[0];
        p->list[2 * kept + 1] = pair[1];
        kept++;
    }
    p->count = kept;
    p->changed = true;
}

static JSValue params_look(const struct params *p, JSValueConst name, JSValueConst value, int what)
{
    for (uint32_t i = 0; i < p->count; i++) {
        if (!same_string(p->list[2 * i], name))
            continue;
        if (what == PARAMS_GET)
            return js_dup(p->list[2 * i + 1]);
        if (JS_IsUndefined(value) || same_string(p->list[2 * i + 1], value))
            return JS_TRUE;
    }
    return what == PARAMS_GET ? JS_NULL : JS_FALSE;
}

static JSValue params_find(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int what)
{
    struct params *p = params_of(this_value);
    JSValue name, value = JS_UNDEFINED, result = JS_UNDEFINED;

    if (!p)
        return JS_EXCEPTION;
    if (argc < 1)
        return JS_ThrowTypeError(ctx, "a name is expected");
    name = usv_string(argv[0]);
    if (JS_IsException(name))
        return name;
    if (what >= PARAMS_HAS && argc > 1 && !JS_IsUndefined(argv[1]))
        value = usv_string(argv[1]);
    if (JS_IsException(value))
        result = JS_EXCEPTION;
    else if (what == PARAMS_GET_ALL)
        result = params_all(p, name);
    else if (what == PARAMS_DELETE)
        params_delete(p, name, value);
    else
        result = params_look(p, name, value, what);
    JS_FreeValue(ctx, name);
    JS_FreeValue(ctx, value);
    return result;
}

/* The first pair of the name gets the value, others of the name go. */
static JSValue params_set(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct params *p = params_of(this_value);
    JSValue name, value;
    uint32_t first = 0, kept;

    if (!p)
        return JS_EXCEPTION;
    if (argc < 2)
        return JS_ThrowTypeError(ctx, "set takes a name and a value");
    name = usv_string(argv[0]);
    value = usv_string(argv[1]);
    if (JS_IsException(name) || JS_IsException(value)) {
        JS_FreeValue(ctx, name);
        JS_FreeValue(ctx, value);
        return JS_EXCEPTION;
    }
    while (first < p->count && !same_string(p->list[2 * first], name))
        first++;
    if (first == p->count)
        return params_add(p, name, value) ? JS_EXCEPTION : JS_UNDEFINED;
    set_value(ctx, &p->list[2 * first + 1], value);
    kept = first + 1;
    for (uint32_t i = first + 1; i < p->count; i++) {
        JSValue *pair = &p->list[2 * i];

        if (same_string(pair[0], name)) {
            JS_FreeValue(ctx, pair[0]);
            JS_FreeValue(ctx, pair[1]);
        } else {
            p->list[2 * kept] = pair[0];
            p->list[2 * kept + 1] = pair[1];
            kept++;
        }
    }
    p->count = kept;
    p->changed = true;
    JS_FreeValue(ctx, name);
    return JS_UNDEFINED;
}

/* Merges two sorted runs of pairs, [from, middle) and [middle, end), into `to`. */
static void merge_pairs(const JSValue *list, JSValue *to, uint32_t from, uint32_t middle, uint32_t end)
{
    uint32_t left = from, right = middle;

    for (uint32_t i = from; i < end; i++) {
        bool take_left = left < middle &&
                         (right >= end || js_string_compare(JS_VALUE_GET_STRING(list[2 * left]),
                                                            JS_VALUE_GET_STRING(list[2 * right])) <= 0);
        uint32_t source = take_left ? left++ : right++;

        to[2 * i] = list[2 * source];
        to[2 * i + 1] = list[2 * source + 1];
    }
}

static JSValue params_sort(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct params *p = params_of(this_value);

    (void)argc;
    (void)argv;
    if (!p)
        return JS_EXCEPTION;
    for (uint64_t width = 1; width < p->count; width *= 2) {
        JSValue *sorted = js_malloc(ctx, (size_t)p->capacity * 2 * sizeof(*sorted));

        if (!sorted)
            return JS_EXCEPTION;
        for (uint64_t from = 0; from < p->count; from += 2 * width) {
            uint64_t middle = from + width < p->count ? from + width : p->count;
            uint64_t end = middle + width < p->count ? middle + width : p->count;
            merge_pairs(p->list, sorted, (uint32_t)from, (uint32_t)middle, (uint32_t)end);
        }
        js_free(ctx, p->list);
        p->list = sorted;
    }
    p->changed = true;
    return JS_UNDEFINED;
}

static JSValue params_to_string(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct params *p = params_of(this_value);
    struct bytes out = { 0 };
    JSValue text;

    (void)ctx;
    (void)argc;
    (void)argv;
    if (!p)
        return JS_EXCEPTION;
    text = params_write(&out, p) ? JS_EXCEPTION : string_of_bytes(&out);
    bytes_free(&out);
    return text;
}

static JSValue params_size(JSContext *ctx, JSValueConst this_value)
{
    struct params *p = params_of(this_value);

    return p ? JS_NewUint32(ctx, p->count) : JS_EXCEPTION;
}

static JSValue params_for_each(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct params *p = params_of(this_value);

    if (!p)
        return JS_EXCEPTION;
    if (argc < 1 || !JS_IsFunction(ctx, argv[0]))
        return JS_ThrowTypeError(ctx, "forEach takes a function");
    for (uint32_t i = 0; i < p->count; i++) {
        JSValue pair[2] = { js_dup(p->list[2 * i + 1]), js_dup(p->list[2 * i]) }, result;
        JSValueConst arguments[3] = { pair[0], pair[1], this_value };

        result = JS_Call(ctx, argv[0], argc > 1 ? argv[1] : JS_UNDEFINED, 3, arguments);
        JS_FreeValue(ctx, pair[0]);
        JS_FreeValue(ctx, pair[1]);
        if (JS_IsException(result))
            return result;
        JS_FreeValue(ctx, result);
    }
    return JS_UNDEFINED;
}

/* ---- iteration ---- */

enum { ITERATE_NAMES, ITERATE_VALUES, ITERATE_PAIRS };

struct params_iterator {
    JSValue target;
    uint32_t next;
    int what;
};

static void params_iterator_finalizer(JSRuntime *rt, JSValueConst value)
{
    struct params_iterator *iterator = JS_GetOpaque(value, params_iterator_class);

    if (iterator) {
        JS_FreeValueRT(rt, iterator->target);
        js_free_rt(rt, iterator);
    }
}

static void params_iterator_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    struct params_iterator *iterator = JS_GetOpaque(value, params_iterator_class);

    if (iterator)
        JS_MarkValue(rt, iterator->target, mark);
}

static JSValue params_iterate(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int what)
{
    struct params_iterator *iterator;
    JSValue object;

    (void)argc;
    (void)argv;
    if (!params_of(this_value))
        return JS_EXCEPTION;
    iterator = js_mallocz(ctx, sizeof(*iterator));
    if (!iterator)
        return JS_EXCEPTION;
    object = new_object_of(JS_UNDEFINED, params_iterator_class, iterator);
    if (JS_IsException(object)) {
        js_free(ctx, iterator);
        return object;
    }
    iterator->target = js_dup(this_value);
    iterator->what = what;
    return object;
}

static JSValue params_iterator_next(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int *done,
                                    int magic)
{
    struct params_iterator *iterator = JS_GetOpaque2(ctx, this_value, params_iterator_class);
    struct params *p;
    uint32_t at;

    (void)argc;
    (void)argv;
    (void)magic;
    *done = false;
    if (!iterator)
        return JS_EXCEPTION;
    p = JS_GetOpaque(iterator->target, params_class);
    at = iterator->next;
    if (!p || at >= p->count) {
        *done = true;
        return JS_UNDEFINED;
    }
    iterator->next++;
    if (iterator->what == ITERATE_PAIRS)
        return pair_of(p->list[2 * at], p->list[2 * at + 1]);
    return js_dup(p->list[2 * at + (iterator->what == ITERATE_VALUES)]);
}

static const JSCFunctionListEntry params_members[] = {
    JS_CFUNC_DEF("append", 2, params_append),
    JS_CFUNC_MAGIC_DEF("delete", 1, params_find, PARAMS_DELETE),
    JS_CFUNC_MAGIC_DEF("get", 1, params_find, PARAMS_GET),
    JS_CFUNC_MAGIC_DEF("getAll", 1, params_find, PARAMS_GET_ALL),
    JS_CFUNC_MAGIC_DEF("has", 1, params_find, PARAMS_HAS),
    JS_CFUNC_DEF("set", 2, params_set),
    JS_CFUNC_DEF("sort", 0, params_sort),
    JS_CFUNC_DEF("toString", 0, params_to_string),
    JS_CFUNC_DEF("forEach", 1, params_for_each),
    JS_CFUNC_MAGIC_DEF("entries", 0, params_iterate, ITERATE_PAIRS),
    JS_CFUNC_MAGIC_DEF("keys", 0, params_iterate, ITERATE_NAMES),
    JS_CFUNC_MAGIC_DEF("values", 0, params_iterate, ITERATE_VALUES),
    JS_ALIAS_DEF("[Symbol.iterator]", "entries"),
    JS_CGETSET_DEF("size", params_size, NULL),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "URLSearchParams", JS_PROP_CONFIGURABLE),
};

static const JSCFunctionListEntry params_iterator_members[] = {
    JS_ITERATOR_NEXT_DEF("next", 0, params_iterator_next, 0),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "URLSearchParams Iterator", JS_PROP_CONFIGURABLE),
};

static int search_params_init(void)
{
    JSValue proto;

    params_class = new_class("URLSearchParams", params_finalizer, NULL);
    params_iterator_class =
        new_class("URLSearchParams Iterator", params_iterator_finalizer, params_iterator_mark);
    if (!params_class || !params_iterator_class)
        return -1;
    proto = JS_NewObjectProtoList(context, context->class_proto[JS_CLASS_ITERATOR], params_iterator_members,
                                  countof(params_iterator_members));
    if (JS_IsException(proto))
        return -1;
    JS_SetClassProto(context, params_iterator_class, proto);
    return define_class(params_class, "URLSearchParams", params_constructor, 0, JS_UNDEFINED, params_members,
                        countof(params_members));
}
