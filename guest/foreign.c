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
            used += (uint32_t)snprintf(text + used, sizeof(text) - used, ".%.*s",
                                       name ? text_head(name, sizeof(text) - used - 2) : 1, name ? name : "?");
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

/* URL and URLSearchParams. */
static bool is_web_text(const JSObject *object);
static int encode_web_text(struct encoder *e, JSObject *object, const struct path_step *path);

/* A description where it is only shown, unless it is an ordinary object: that is shown with its class. */
static int encode_instance(struct encoder *e, JSObject *object, const struct path_step *path)
{
    char what[160], description[96], shown[65];
    JSValue name;

    if (is_web_text(object))
        return encode_web_text(e, object, path);
    if (object->class_id == JS_CLASS_PROXY)
        return encode_foreign(e, "a proxy cannot cross, pass a plain object", "Proxy { ... }", path);
    name = class_name(object);
    if (JS_IsException(name))
        return -1;
    string_head(shown, sizeof(shown), name);
    JS_FreeValue(context, name);
    snprintf(what, sizeof(what), "an instance of %s cannot cross, pass a plain object", shown);
    snprintf(description, sizeof(description), "[%s]", shown);
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
    char description[128], name[65] = "";
    JSValueConst text = data_property(object, JS_ATOM_name);

    if (JS_IsString(text))
        string_head(name, sizeof(name), text);
    if (is_class(object))
        snprintf(description, sizeof(description), name[0] ? "[class %s]" : "[class (anonymous)]", name);
    else
        snprintf(description, sizeof(description), name[0] ? "[%s: %s]" : "[%s (anonymous)]", function_kind(object), name);
    return encode_foreign(e, "a function cannot cross", description, path);
}

static int encode_symbol(struct encoder *e, JSValueConst symbol, const struct path_step *path)
{
    char description[91];
    JSValue text = js_symbol_toString(context, symbol, 0, NULL);

    if (JS_IsException(text))
        return -1;
    string_head(description, sizeof(description), text);
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
