/* Calls: the frozen `tools`, the table of calls without an answer, and which of them nothing open waits for.
 *
 * A tool is a C function that hands the call to the host and returns the pending promise itself. Answers settle
 * that promise by the engine's own fulfil, which never looks up `then`.
 */

struct call {
    uint32_t number;
    JSValue promise;
};

static struct {
    struct call *list;
    uint32_t count;
    uint32_t capacity;
} calls;

static struct bytes outbox;

static JSValue new_promise(void)
{
    JSValue promise = JS_NewObjectClass(context, JS_CLASS_PROMISE);
    JSPromiseData *data;

    if (JS_IsException(promise))
        return promise;
    data = js_mallocz(context, sizeof(*data));
    if (!data) {
        JS_FreeValue(context, promise);
        return JS_EXCEPTION;
    }
    data->promise_state = JS_PROMISE_PENDING;
    init_list_head(&data->promise_reactions[0]);
    init_list_head(&data->promise_reactions[1]);
    data->promise_result = JS_UNDEFINED;
    JS_SetOpaqueInternal(promise, data);
    return promise;
}

static int calls_add(uint32_t number, JSValueConst promise)
{
    if (calls.count == calls.capacity) {
        uint32_t capacity = calls.capacity ? calls.capacity * 2 : 8;
        struct call *moved = js_realloc(context, calls.list, capacity * sizeof(*moved));
        if (!moved)
            return -1;
        calls.list = moved;
        calls.capacity = capacity;
    }
    calls.list[calls.count].number = number;
    calls.list[calls.count++].promise = js_dup(promise);
    return 0;
}

/* Takes a call out of the table; its promise belongs to the caller. */
static JSValue calls_take(uint32_t number)
{
    for (uint32_t i = 0; i < calls.count; i++) {
        if (calls.list[i].number == number) {
            JSValue promise = calls.list[i].promise;
            memmove(&calls.list[i], &calls.list[i + 1], (calls.count - i - 1) * sizeof(*calls.list));
            calls.count--;
            return promise;
        }
    }
    return JS_UNDEFINED;
}

static void calls_clear(void)
{
    while (calls.count)
        JS_FreeValue(context, calls.list[--calls.count].promise);
    js_free(context, calls.list);
    memset(&calls, 0, sizeof(calls));
}

static JSValue reject_with_exception(JSValue promise)
{
    JSValue error;

    if (JS_IsUncatchableError(runtime->current_exception)) {
        JS_FreeValue(context, promise);
        return JS_EXCEPTION;
    }
    error = JS_GetException(context);
    fulfill_or_reject_promise(context, promise, error, true);
    JS_FreeValue(context, error);
    return promise;
}

/* As an error of the host: with the tool's name, the stable code, and that the same call would fail again. */
static JSValue reject_named(JSValue promise, const char *name, const char *code, JSValueConst tool, const char *message)
{
    JSValue error = new_error(name, (uint32_t)strlen(name), JS_NewString(context, message));

    if (JS_IsException(error))
        return reject_with_exception(promise);
    if (JS_DefinePropertyValueStr(context, error, "tool", js_dup(tool), JS_PROP_C_W_E) < 0 ||
        JS_DefinePropertyValueStr(context, error, "code", JS_NewString(context, code), JS_PROP_C_W_E) < 0 ||
        JS_DefinePropertyValueStr(context, error, "retryable", JS_FALSE, JS_PROP_C_W_E) < 0) {
        JS_FreeValue(context, error);
        return reject_with_exception(promise);
    }
    fulfill_or_reject_promise(context, promise, error, true);
    JS_FreeValue(context, error);
    return promise;
}

static JSValue reject_too_large(JSValue promise, JSValueConst tool, const struct encoder *e)
{
    char message[160];

    if (e->nodes_left == 0)
        snprintf(message, sizeof(message), "arguments hold more than %u values", limits.nodes);
    else if (e->too_deep)
        snprintf(message, sizeof(message), "arguments are deeper than %u levels", limits.depth);
    else
        snprintf(message, sizeof(message), "arguments are larger than %u bytes", limits.argument_bytes);
    return reject_named(promise, "ArgumentTooLarge", "argument_too_large", tool, message);
}

static JSValue reject_argument_count(JSValue promise, JSValueConst name, int count)
{
    const char *text = JS_ToCString(context, name);

    JS_ThrowTypeError(context, "%.*s takes one object; got %d arguments", text ? text_head(text, 100) : 6,
                      text ? text : "a tool", count);
    JS_FreeCString(context, text);
    return reject_with_exception(promise);
}

static JSValue hand_over(JSValue promise, JSValueConst name, const struct encoder *e)
{
    size_t length;
    const char *text = JS_ToCStringLen(context, &length, name);
    struct place place;
    uint32_t number;

    if (!text)
        return reject_with_exception(promise);
    place_of_caller(&place);
    number = import_call(text, (uint32_t)length, e->out.data, e->out.length, place.file, (uint32_t)strlen(place.file),
                         place.line, place.column);
    JS_FreeCString(context, text);
    if (number == CALL_REFUSED)
        return reject_named(promise, "CallBudgetExceeded", "call_budget_exceeded", name,
                            "too many calls wait in the host's memory");
    if (number != CALL_STOPPED && calls_add(number, promise))
        return reject_with_exception(promise);
    return promise;
}

/* `list.map(tools.get)` passes the element, its index and the list; only the element is meant. */
static bool is_array_callback(int argc, JSValueConst *argv)
{
    return argc == 3 && JS_IsNumber(argv[1]) && JS_IsArray(argv[2]);
}

static JSValue tool_call(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                         JSValueConst *data)
{
    struct encoder e = { .mode = ENCODE_STRICT, .max_bytes = limits.argument_bytes, .nodes_left = limits.nodes };
    JSValue promise = new_promise();

    (void)ctx;
    (void)this_value;
    (void)magic;
    if (JS_IsException(promise))
        return promise;
    if (argc > 1 && !JS_IsUndefined(argv[1]) && !is_array_callback(argc, argv))
        return reject_argument_count(promise, data[0], argc);
    if (!encode_value(&e, argc > 0 ? argv[0] : JS_UNDEFINED, 0, NULL))
        promise = hand_over(promise, data[0], &e);
    else if (e.too_large)
        promise = reject_too_large(promise, data[0], &e);
    else
        promise = reject_with_exception(promise);
    encoder_free(&e);
    return promise;
}

/* A function that makes calls of that name, without a prototype. */
static JSValue new_fixed_function(JSCFunctionData *call, JSValueConst name)
{
    JSValue function = JS_NewCFunctionData(context, call, 1, 0, 1, &name);

    if (!JS_IsException(function) && STANDS(DEFENCE_BARE_TOOLS))
        JS_SetPrototypeInternal(context, function, JS_NULL, false);
    return function;
}

static JSValue new_space(void)
{
    JSValueConst proto = STANDS(DEFENCE_BARE_TOOLS) ? JS_NULL : context->class_proto[JS_CLASS_OBJECT];

    return JS_NewObjectProtoClass(context, proto, tools_class);
}

/* Walks `a.b.c` from the root, making namespaces on the way, and puts a tool at the end; hidden from enumeration if it is
 * another name for one that is there. */
static int tools_place(JSValueConst root, const char *path, uint32_t length, JSValueConst name, bool hidden)
{
    JSValue place = js_dup(root);
    const char *end = path + length;

    while (!JS_IsException(place)) {
        const char *dot = memchr(path, '.', (size_t)(end - path));
        JSAtom atom = JS_NewAtomLen(context, path, (size_t)((dot ? dot : end) - path));
        JSProperty *property;
        JSValue next;

        if (dot && find_own_property(&property, JS_VALUE_GET_OBJ(place), atom))
            next = js_dup(property->u.value);
        else if (dot)
            next = new_space();
        else
            next = new_fixed_function(tool_call, name);
        if (!JS_IsException(next))
            JS_DefinePropertyValue(context, place, atom, js_dup(next),
                                   hidden ? JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE : JS_PROP_C_W_E);
        JS_FreeAtom(context, atom);
        JS_FreeValue(context, place);
        place = next;
        if (!dot)
            break;
        path = dot + 1;
    }
    if (JS_IsException(place))
        return -1;
    JS_FreeValue(context, place);
    return 0;
}

static void tools_freeze(JSValueConst value)
{
    JSObject *object = JS_VALUE_GET_OBJ(value);

    for (int i = 0; i < object->shape->prop_count; i++) {
        if ((get_shape_prop(object->shape)[i].flags & JS_PROP_TMASK) == JS_PROP_NORMAL &&
            JS_IsObject(object->prop[i].u.value))
            tools_freeze(object->prop[i].u.value);
    }
    JS_FreeValue(context, js_object_seal(context, JS_UNDEFINED, 1, &value, 1));
}

/* Puts a frozen tree under the global `tools`, which is itself fixed: only this function replaces it. */
static int tools_publish(JSValue root)
{
    JSProperty *property;

    if (STANDS(DEFENCE_FROZEN_TOOLS))
        tools_freeze(root);
    if (!find_own_property(&property, JS_VALUE_GET_OBJ(context->global_obj), tools_atom))
        return JS_DefinePropertyValue(context, context->global_obj, tools_atom, root, JS_PROP_ENUMERABLE) < 0 ? -1 : 0;
    set_value(context, &property->u.value, root);
    return 0;
}

/* See global.c and reveal.c. */
static int globals_clear(void);
static int global_publish(const char *path, uint32_t length, JSCFunctionData *call, JSValueConst call_name);
static JSValue reveal_call(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                           JSValueConst *data);

/* The message: for each name what it is of, its path, and the name that the host knows. */
static int tools_replace(struct decoder *d)
{
    JSValue root = new_space();
    uint32_t count, length, name_length;
    const uint8_t *kind;
    const char *path, *text;
    int status = JS_IsException(root) || take_varint(d, &count) || globals_clear() ? -1 : 0;

    while (!status && count--) {
        JSValue name;

        if (take_bytes(d, 1, &kind) || take_text(d, &path, &length) || take_text(d, &text, &name_length)) {
            status = -1;
            break;
        }
        name = JS_NewStringLen(context, text, name_length);
        if (JS_IsException(name))
            status = -1;
        else if (*kind == TOOL_REVEAL)
            status = global_publish(path, length, reveal_call, name);
        else if (*kind == TOOL_GLOBAL)
            status = global_publish(path, length, tool_call, name);
        else
            status = tools_place(root, path, length, name, *kind == TOOL_HIDDEN);
        JS_FreeValue(context, name);
    }
    if (!status)
        return tools_publish(root);
    JS_FreeValue(context, root);
    return -1;
}

static int answer_module(struct decoder *d, JSValueConst promise);

/* Extra fields of an error answer become its properties. */
static JSValue answer_error(struct decoder *d)
{
    const char *name;
    const uint8_t *tag;
    uint32_t length;
    JSValue message, error;

    if (take_text(d, &name, &length))
        return JS_EXCEPTION;
    message = decode_string(d);
    if (JS_IsException(message))
        return message;
    error = new_error(name, length, message);
    if (JS_IsException(error))
        return error;
    /* So that it gets a place where the program awaits it. */
    set_value(context, &JS_VALUE_GET_OBJ(error)->u.object_data, JS_UNDEFINED);
    if (remember(d, error) || take_bytes(d, 1, &tag) || *tag != TAG_OBJECT) {
        JS_FreeValue(context, error);
        return JS_EXCEPTION;
    }
    return decode_object_into(d, error, 0);
}

/* By the engine's own fulfil. Resolving would look up `then` on the value. */
static void answer_promise(JSValueConst promise, JSValueConst value, bool is_error)
{
    JSValue resolving[2];

    if (STANDS(DEFENCE_PLAIN_ANSWERS)) {
        fulfill_or_reject_promise(context, promise, value, is_error);
    } else if (!js_create_resolving_functions(context, resolving, promise)) {
        JS_FreeValue(context, JS_Call(context, resolving[is_error], JS_UNDEFINED, 1, &value));
        JS_FreeValue(context, resolving[0]);
        JS_FreeValue(context, resolving[1]);
    }
}

/* Each answer is decoded within its own bytes: one that cannot be decoded must not be read on as the next. */
static int answer_one(struct decoder *d)
{
    const uint8_t *head, *body, *rest;
    uint32_t number, length;
    JSValue promise, value;
    bool is_error;

    if (take_bytes(d, ANSWER_HEAD, &head))
        return -1;
    memcpy(&number, head, 4);
    is_error = head[4] == ANSWER_ERROR;
    memcpy(&length, head + 5, 4);
    if (take_bytes(d, length, &body))
        return -1;
    promise = calls_take(number);
    rest = d->end;
    d->at = body;
    d->end = body + length;
    d->seen_count = 0;
    if (head[4] == ANSWER_MODULE && !JS_IsUndefined(promise)) {
        /* Settles the promise itself, once the module has run. */
        bool loaded = answer_module(d, promise) == 0;
        value = loaded ? JS_UNDEFINED : JS_EXCEPTION;
        if (loaded)
            set_value(context, &promise, JS_UNDEFINED);
    } else {
        value = is_error ? answer_error(d) : decode_value(d, 0);
    }
    d->at = body + length;
    d->end = rest;
    if (JS_IsException(value)) {
        /* No memory for the answer: the call fails rather than hangs. */
        value = JS_GetException(context);
        is_error = true;
    }
    if (!JS_IsUndefined(promise))
        answer_promise(promise, value, is_error);
    JS_FreeValue(context, promise);
    JS_FreeValue(context, value);
    return 0;
}

/* ---- which calls nothing open waits for ---- */

#define LOOSE_DEPTH 64

/* Reactions that may still be looked at: a graph of them can have more paths than there is time for. */
#define LOOSE_STEPS 20000

static uint32_t loose_steps;

static bool leads_to_settled(JSValueConst promise, int depth, bool unwatched);

static bool function_leads_to_settled(JSValueConst function, int depth)
{
    JSObject *object = JS_VALUE_GET_OBJ(function);

    if (object->class_id == JS_CLASS_PROMISE_RESOLVE_FUNCTION || object->class_id == JS_CLASS_PROMISE_REJECT_FUNCTION)
        return object->u.promise_function_data &&
               leads_to_settled(object->u.promise_function_data->promise, depth, false);
    if (object->class_id == JS_CLASS_C_FUNCTION_DATA) {
        JSCFunctionDataRecord *record = object->u.c_function_data_record;
        if (record && record->func == js_promise_all_resolve_element && record->data_len == 5 &&
            JS_IsObject(record->data[3]))
            return function_leads_to_settled(record->data[3], depth);
    }
    return false;
}

static bool reaction_leads_to_settled(const JSPromiseReactionData *reaction, int depth)
{
    JSObject *derived;

    if (!JS_IsUndefined(reaction->handler) && !function_leads_to_settled(reaction->handler, depth))
        return false;
    /* Whatever the handler does, the promise that `then` returned is settled after it. */
    if (!JS_IsObject(reaction->resolving_funcs[0]))
        return false;
    derived = JS_VALUE_GET_OBJ(reaction->resolving_funcs[0]);
    if (derived->class_id != JS_CLASS_PROMISE_RESOLVE_FUNCTION || !derived->u.promise_function_data)
        return false;
    return leads_to_settled(derived->u.promise_function_data->promise, depth, true);
}

/* `unwatched` is the answer for a pending promise that nothing reacts to. */
static bool leads_to_settled(JSValueConst promise, int depth, bool unwatched)
{
    JSPromiseData *data = JS_GetOpaque(promise, JS_CLASS_PROMISE);
    struct list_head *at;

    if (!data || depth > LOOSE_DEPTH || loose_steps++ > LOOSE_STEPS)
        return false;
    if (data->promise_state != JS_PROMISE_PENDING)
        return true;
    if (list_empty(&data->promise_reactions[0]))
        return unwatched;
    for (int side = 0; side < 2; side++)
        list_for_each(at, &data->promise_reactions[side])
            if (!reaction_leads_to_settled(list_entry(at, JSPromiseReactionData, link), depth + 1))
                return false;
    return true;
}

static int outbox_put(uint32_t number)
{
    if (bytes_reserve(&outbox, sizeof(number)))
        return -1;
    memcpy(outbox.data + outbox.length, &number, sizeof(number));
    outbox.length += sizeof(number);
    return 0;
}

static int calls_loose(void)
{
    outbox.length = 0;
    loose_steps = 0;
    for (uint32_t i = 0; i < calls.count; i++)
        if (leads_to_settled(calls.list[i].promise, 0, false) && outbox_put(calls.list[i].number))
            return -1;
    return 0;
}
