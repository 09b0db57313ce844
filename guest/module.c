/* Modules. Their sources come from the host, a whole graph at a time, and stay in the heap as the engine's own modules.
 *
 * `import` statements and `import()` of a program reach this file as calls of one function. A module that is here is
 * evaluated at once; for any other the host is asked, as for a tool.
 */

struct module_source {
    JSAtom key;
    char *text;
    uint32_t length;
};

/* What the host sent and the engine has not yet asked for. */
static struct {
    struct module_source *list;
    uint32_t count;
} sources;

/* Why the modules of a program could not be compiled; it fails with that instead of running. */
static JSValue modules_failure = JS_UNDEFINED;

static void sources_clear(void)
{
    for (uint32_t i = 0; i < sources.count; i++) {
        JS_FreeAtom(context, sources.list[i].key);
        js_free(context, sources.list[i].text);
    }
    js_free(context, sources.list);
    memset(&sources, 0, sizeof(sources));
}

/* A relative name is joined to the folder of the module that asks; any other is a key as it stands. */
static char *module_key(JSContext *ctx, const char *base, const char *name, void *opaque)
{
    const char *slash = strrchr(base, '/');
    size_t folder = slash ? (size_t)(slash - base) : 0, length = strlen(name), used = 0;
    char *key;

    (void)opaque;
    if (name[0] != '.' || (name[1] != '/' && name[1] != '.' && name[1]) || (name[1] == '.' && name[2] && name[2] != '/'))
        return js_strdup(ctx, name);
    key = js_malloc(ctx, folder + length + 3);
    if (!key)
        return NULL;
    memcpy(key, base, folder);
    used = folder;
    while (*name) {
        size_t segment = strcspn(name, "/");
        const char *last;

        key[used] = 0;
        last = strrchr(key, '/');
        last = last ? last + 1 : key;
        if (segment == 0 || (segment == 1 && name[0] == '.')) {
            /* stays here */
        } else if (segment == 2 && name[0] == '.' && name[1] == '.' && used && strcmp(last, "..")) {
            used = last > key ? (size_t)(last - key) - 1 : 0;
        } else {
            if (used)
                key[used++] = '/';
            memcpy(key + used, name, segment);
            used += segment;
        }
        name += segment + (name[segment] == '/');
    }
    key[used] = 0;
    return key;
}

/* The engine asks for the text of a module that it has not seen. */
static JSModuleDef *module_load(JSContext *ctx, const char *key, void *opaque)
{
    JSAtom atom = JS_NewAtom(ctx, key);
    JSValue compiled;

    (void)opaque;
    for (uint32_t i = 0; i < sources.count; i++) {
        if (sources.list[i].key != atom)
            continue;
        JS_FreeAtom(ctx, atom);
        compiled = JS_Eval(ctx, sources.list[i].text, sources.list[i].length, key,
                           JS_EVAL_TYPE_MODULE | JS_EVAL_FLAG_COMPILE_ONLY);
        if (JS_IsException(compiled))
            return NULL;
        /* The list of loaded modules holds it. */
        JS_FreeValue(ctx, compiled);
        return JS_VALUE_GET_PTR(compiled);
    }
    JS_FreeAtom(ctx, atom);
    JS_ThrowReferenceError(ctx, "module '%s' is not here: import it in the text of the program itself", key);
    return NULL;
}

static int sources_read(struct decoder *d)
{
    uint32_t count, length;
    const char *text;

    sources_clear();
    if (take_varint(d, &count) || count > (size_t)(d->end - d->at))
        return -1;
    sources.list = js_mallocz(context, (count ? count : 1) * sizeof(*sources.list));
    if (!sources.list)
        return -1;
    while (sources.count < count) {
        struct module_source *source = &sources.list[sources.count];

        if (take_text(d, &text, &length))
            return -1;
        source->key = JS_NewAtomLen(context, text, length);
        if (source->key == JS_ATOM_NULL)
            return -1;
        sources.count++;
        if (take_text(d, &text, &length))
            return -1;
        source->text = js_malloc(context, (size_t)length + 1);
        if (!source->text)
            return -1;
        memcpy(source->text, text, length);
        source->text[length] = 0;
        source->length = length;
    }
    return 0;
}

static JSModuleDef *module_find(JSAtom key)
{
    return js_find_loaded_module(context, key, JS_UNDEFINED);
}

/* Compiles what the host sent, and what of it asks for one another. */
static int modules_take(struct decoder *d)
{
    int status = sources_read(d);

    for (uint32_t i = 0; !status && i < sources.count; i++) {
        const char *key;
        JSModuleDef *module = module_find(sources.list[i].key);

        if (module)
            continue;
        key = JS_AtomToCString(context, sources.list[i].key);
        module = key ? js_host_resolve_imported_module(context, "", key, JS_UNDEFINED) : NULL;
        JS_FreeCString(context, key);
        status = !module || js_resolve_module(context, module) < 0 ? -1 : 0;
    }
    if (status)
        js_free_modules(context, JS_FREE_MODULE_NOT_RESOLVED);
    sources_clear();
    return status;
}

/* Bound to the promise of the import: what it is told when the module has run. */
static JSValue module_evaluated(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                                JSValueConst *data)
{
    JSValue value;

    (void)this_value;
    if (magic) {
        fulfill_or_reject_promise(ctx, data[0], argc > 0 ? argv[0] : JS_UNDEFINED, true);
        return JS_UNDEFINED;
    }
    value = JS_GetModuleNamespace(ctx, JS_VALUE_GET_PTR(data[1]));
    if (JS_IsException(value)) {
        value = JS_GetException(ctx);
        fulfill_or_reject_promise(ctx, data[0], value, true);
    } else {
        fulfill_or_reject_promise(ctx, data[0], value, false);
    }
    JS_FreeValue(ctx, value);
    return JS_UNDEFINED;
}

/* Runs the module unless it has run, and settles the promise with its namespace; no `then` of anybody is looked up. */
static int module_evaluate(JSValueConst promise, JSModuleDef *module)
{
    JSValue evaluated = JS_EvalFunction(context, JS_NewModuleValue(context, module));
    JSValue value, handlers[2];
    JSValueConst nothing[2] = { JS_UNDEFINED, JS_UNDEFINED }, data[2];
    int status = -1;

    if (JS_IsException(evaluated))
        return -1;
    value = JS_NewModuleValue(context, module);
    data[0] = promise;
    data[1] = value;
    for (int i = 0; i < 2; i++)
        handlers[i] = JS_NewCFunctionData(context, module_evaluated, 1, i, 2, data);
    if (!JS_IsException(handlers[0]) && !JS_IsException(handlers[1]))
        status = perform_promise_then(context, evaluated, vc(handlers), nothing);
    JS_FreeValue(context, handlers[0]);
    JS_FreeValue(context, handlers[1]);
    JS_FreeValue(context, value);
    JS_FreeValue(context, evaluated);
    return status;
}

/* A module that was stopped while it ran must not be waited for by later programs. */
static void modules_give_up(void)
{
    struct list_head *at;

    list_for_each(at, &context->loaded_modules) {
        JSModuleDef *module = list_entry(at, JSModuleDef, link);

        bool pending = JS_IsPromise(module->promise) &&
                       JS_PromiseState(context, module->promise) == JS_PROMISE_PENDING;

        /* What stopped it cannot be caught, so it must not be thrown again either. */
        if (!pending && !JS_IsUncatchableError(module->eval_exception) && module->status != JS_MODULE_STATUS_EVALUATING &&
            module->status != JS_MODULE_STATUS_EVALUATING_ASYNC)
            continue;
        module->status = JS_MODULE_STATUS_EVALUATED;
        module->cycle_root = module;
        module->eval_has_exception = true;
        JS_ThrowInternalError(context, "the module was stopped while it ran; a new session can load it");
        set_value(context, &module->eval_exception, JS_GetException(context));
        /* What a later import is given. */
        if (!pending)
            set_value(context, &module->promise, new_promise());
        if (JS_IsPromise(module->promise))
            fulfill_or_reject_promise(context, module->promise, module->eval_exception, true);
    }
}

static JSValue import_module(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct encoder e = { .mode = ENCODE_STRICT, .max_bytes = limits.argument_bytes, .nodes_left = limits.nodes };
    JSValue promise = new_promise(), name, request;
    JSAtom base, key;
    const char *base_text, *text = NULL;
    char *joined = NULL;
    JSModuleDef *module;

    (void)this_value;
    if (JS_IsException(promise))
        return promise;
    base = JS_GetScriptOrModuleName(ctx, 1);
    base_text = base == JS_ATOM_NULL ? NULL : JS_AtomToCString(ctx, base);
    JS_FreeAtom(ctx, base);
    text = JS_ToCString(ctx, argc > 0 ? argv[0] : JS_UNDEFINED);
    if (text)
        joined = module_key(ctx, base_text ? base_text : "", text, NULL);
    JS_FreeCString(ctx, text);
    JS_FreeCString(ctx, base_text);
    if (!joined)
        return reject_with_exception(promise);
    key = JS_NewAtom(ctx, joined);
    js_free(ctx, joined);
    if (key == JS_ATOM_NULL)
        return reject_with_exception(promise);
    module = module_find(key);
    if (module) {
        JS_FreeAtom(ctx, key);
        return module_evaluate(promise, module) ? reject_with_exception(promise) : promise;
    }
    request = JS_NewObjectProto(ctx, JS_NULL);
    name = JS_NewString(ctx, ABI_MODULE_CALL);
    if (JS_IsException(request) || JS_IsException(name) ||
        JS_DefinePropertyValueStr(ctx, request, "key", JS_AtomToString(ctx, key), JS_PROP_C_W_E) < 0 ||
        encode_value(&e, request, 0, NULL))
        promise = e.too_large ? reject_too_large(promise, name, &e) : reject_with_exception(promise);
    else
        promise = hand_over(promise, name, &e);
    JS_FreeAtom(ctx, key);
    JS_FreeValue(ctx, request);
    JS_FreeValue(ctx, name);
    encoder_free(&e);
    return promise;
}

/* The answer to an import: the graph, and which of it was asked for. */
static int answer_module(struct decoder *d, JSValueConst promise)
{
    const char *text;
    uint32_t length;
    JSAtom key;
    JSModuleDef *module;

    if (take_text(d, &text, &length) || modules_take(d))
        return -1;
    key = JS_NewAtomLen(context, text, length);
    if (key == JS_ATOM_NULL)
        return -1;
    module = module_find(key);
    JS_FreeAtom(context, key);
    if (!module) {
        JS_ThrowReferenceError(context, "the host answered with another module");
        return -1;
    }
    return module_evaluate(promise, module);
}

static int modules_init(JSValueConst global)
{
    JSValue import = JS_NewCFunction(context, import_module, ABI_IMPORT_FUNCTION, 1);

    JS_SetModuleLoaderFunc(runtime, module_key, module_load, NULL);
    /* Nobody's to replace or delete: the text of every program is written for it. */
    return JS_IsException(import) || JS_DefinePropertyValueStr(context, global, ABI_IMPORT_FUNCTION, import, 0) < 0 ? -1 : 0;
}
