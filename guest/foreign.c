/* What has no form on the wire: functions, symbols, promises, instances. In an argument it is an error that names its
 * path, where values are only shown a description.
 */

static int encode_value(struct encoder *e, JSValueConst value, uint32_t depth, const struct path_step *path);

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
/* The name of an object's class, to be freed by the caller; NULL without memory. */
static const char *class_name(JSObject *object)
{
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
    return name;
}

/* URL and URLSearchParams. */
static bool is_web_text(const JSObject *object);
static int encode_web_text(struct encoder *e, JSObject *object, const struct path_step *path);

/* A description where it is only shown, unless it is an ordinary object: that is shown with its class. */
static int encode_instance(struct encoder *e, JSObject *object, const struct path_step *path)
{
    char what[160], description[96];
    const char *name;

    if (is_web_text(object))
        return encode_web_text(e, object, path);
    if (object->class_id == JS_CLASS_PROXY)
        return encode_foreign(e, "a proxy cannot cross, pass a plain object", "Proxy { ... }", path);
    name = class_name(object);
    snprintf(what, sizeof(what), "an instance of %.64s cannot cross, pass a plain object", name ? name : "a class");
    snprintf(description, sizeof(description), "[%.64s]", name ? name : "object");
    JS_FreeCString(context, name);
    return encode_foreign(e, what, description, path);
}

static const char *function_kind(const JSObject *object)
{
    switch (object->class_id) {
    case JS_CLASS_ASYNC_FUNCTION:
        return "AsyncFunction";
    case JS_CLASS_GENERATOR_FUNCTION:
        return "GeneratorFunction";
    case JS_CLASS_ASYNC_GENERATOR_FUNCTION:
        return "AsyncGeneratorFunction";
    default:
        return "Function";
    }
}

/* The engine keeps the source of a class with its constructor. */
static bool is_class(const JSObject *object)
{
    const JSFunctionBytecode *code =
        object->class_id == JS_CLASS_BYTECODE_FUNCTION ? object->u.func.function_bytecode : NULL;

    return code && code->source && code->source_len > 5 && !memcmp(code->source, "class", 5);
}

static int encode_function(struct encoder *e, JSObject *object, const struct path_step *path)
{
    char description[128];
    JSValueConst text = data_property(object, JS_ATOM_name);
    const char *name = JS_IsString(text) ? JS_ToCString(context, text) : NULL;
    bool named = name && name[0];

    if (is_class(object))
        snprintf(description, sizeof(description), named ? "[class %.64s]" : "[class (anonymous)]", name);
    else
        snprintf(description, sizeof(description), named ? "[%s: %.64s]" : "[%s (anonymous)]", function_kind(object),
                 named ? name : "");
    JS_FreeCString(context, name);
    return encode_foreign(e, "a function cannot cross", description, path);
}

static int encode_symbol(struct encoder *e, JSValueConst symbol, const struct path_step *path)
{
    char description[96];
    JSValue text = js_symbol_toString(context, symbol, 0, NULL);
    const char *bytes = JS_IsException(text) ? NULL : JS_ToCString(context, text);

    if (!bytes)
        drop_exception();
    snprintf(description, sizeof(description), "%.90s", bytes ? bytes : "Symbol()");
    JS_FreeCString(context, bytes);
    JS_FreeValue(context, text);
    return encode_foreign(e, "a symbol cannot cross", description, path);
}

/* In a result a promise that has been kept is what it was kept with: nothing runs any more that could await it. */
static int encode_promise(struct encoder *e, JSObject *object, uint32_t depth, const struct path_step *path)
{
    const JSPromiseData *data = object->u.promise_data;
    const char *shown = "Promise { <pending> }";

    if (data && data->promise_state == JS_PROMISE_FULFILLED) {
        if (e->mode == ENCODE_SHOW)
            return encode_value(e, data->promise_result, depth, path);
        shown = "Promise { <fulfilled> }";
    } else if (data && data->promise_state == JS_PROMISE_REJECTED) {
        shown = "Promise { <rejected> }";
    }
    return encode_foreign(e, "a promise cannot cross, await it first", shown, path);
}
