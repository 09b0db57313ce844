/* The life of a program: compiled, its names unbound, run as an async function of ours, its value kept here and not in an
 * object of the engine's that the program could reach.
 */

static struct {
    uint32_t number;
    JSValue value; /* its value, or the reason of its rejection */
} program = { 0, JS_UNDEFINED };

static JSValue program_settled(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                               JSValueConst *data);

/* Functions of ours that are told how a promise ended; bound to the program, so that a late one is ignored. */
static int program_handlers(JSValue handlers[2], int wrapped)
{
    JSValue number = JS_NewUint32(context, program.number);

    for (int i = 0; i < 2; i++)
        handlers[i] = JS_NewCFunctionData(context, program_settled, 1, i | wrapped, 1, vc(&number));
    return JS_IsException(handlers[0]) || JS_IsException(handlers[1]) ? -1 : 0;
}

#define SETTLED_REJECTED 1
#define SETTLED_WRAPPED 2

static void program_end(uint32_t state, JSValueConst value)
{
    set_value(context, &program.value, js_dup(value));
    board.program = state;
}

/* The value of a program that is a promise is awaited, by the engine's own then. */
static int program_await(JSValueConst promise)
{
    JSValue handlers[2];
    JSValueConst nothing[2] = { JS_UNDEFINED, JS_UNDEFINED };
    int status = program_handlers(handlers, 0);

    if (!status)
        status = perform_promise_then(context, promise, vc(handlers), nothing);
    JS_FreeValue(context, handlers[0]);
    JS_FreeValue(context, handlers[1]);
    return status;
}

static JSValue program_settled(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                               JSValueConst *data)
{
    JSValueConst value = argc > 0 ? argv[0] : JS_UNDEFINED;
    uint32_t number;

    (void)this_value;
    JS_ToUint32(ctx, &number, data[0]);
    if (number != program.number || board.program != PROGRAM_RUNNING)
        return JS_UNDEFINED;
    if (magic & SETTLED_REJECTED) {
        program_end(PROGRAM_REJECTED, value);
        return JS_UNDEFINED;
    }
    if (magic & SETTLED_WRAPPED) {
        JSProperty *property;
        bool found = JS_IsObject(value) && find_own_property(&property, JS_VALUE_GET_OBJ(value), JS_ATOM_value);
        value = found ? property->u.value : JS_UNDEFINED;
    }
    if (JS_IsPromise(value))
        return program_await(value) ? JS_EXCEPTION : JS_UNDEFINED;
    program_end(PROGRAM_FULFILLED, value);
    return JS_UNDEFINED;
}

/* A name that an earlier program declared may be declared again. */
static void unbind(JSAtom name, int flags)
{
    JSObject *global = JS_VALUE_GET_OBJ(context->global_obj);
    JSShapeProperty *property;

    delete_property(context, JS_VALUE_GET_OBJ(context->global_var_obj), name);
    if (!(flags & DEFINE_GLOBAL_LEX_VAR))
        return;
    property = find_own_property1(global, name);
    /* A `var` or function of an earlier program; undefined, NaN, Infinity and tools are not writable. */
    if (property && !(property->flags & JS_PROP_CONFIGURABLE) && (property->flags & JS_PROP_WRITABLE) &&
        (property->flags & JS_PROP_ENUMERABLE) && !js_shape_prepare_update(context, global, &property)) {
        property->flags |= JS_PROP_CONFIGURABLE;
        delete_property(context, global, name);
    }
}

/* Walks the compiled program: unbinds the names that it declares, and makes the object that carries its value be
 * filled by definition, since an assignment would meet a setter that the program put on Object.prototype. */
static void prepare_bytecode(JSFunctionBytecode *code)
{
    uint8_t *at = code->byte_code_buf, *end = at + code->byte_code_len;

    while (at < end) {
        int size = short_opcode_info(*at).size;

        if (*at == OP_check_define_var)
            unbind(get_u32(at + 1), at[5]);
        else if (*at == OP_put_field && get_u32(at + 1) == JS_ATOM_value && at + size < end &&
                 at[size] == OP_return_async)
            *at = OP_define_field;
        at += size;
    }
}

/* As the engine's call of an async function, with our handlers in place of a promise's. */
static int program_call(JSValueConst function)
{
    JSAsyncFunctionData *data = js_mallocz(context, sizeof(*data));
    bool alive = false;

    if (!data)
        return -1;
    JS_REF_COUNT(data) = 1;
    add_gc_object(runtime, &data->header, JS_GC_OBJ_TYPE_ASYNC_FUNCTION);
    data->is_active = false;
    data->resolving_funcs[0] = JS_UNDEFINED;
    data->resolving_funcs[1] = JS_UNDEFINED;
    if (!program_handlers(data->resolving_funcs, SETTLED_WRAPPED) &&
        !async_func_init(context, &data->func_state, function, context->global_obj, 0, NULL)) {
        data->is_active = true;
        data->func_state.frame.cur_gc_obj = &data->header;
        alive = js_async_function_resume(context, data);
    }
    js_async_function_free(runtime, data);
    return alive ? 0 : -1;
}

static int program_run(const char *source, uint32_t length)
{
    char file[32];
    JSValue code, function;
    int status;

    snprintf(file, sizeof(file), "program-%u.js", program.number);
    code = JS_EvalInternal(context, context->global_obj, source, length, file, 1,
                           JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_ASYNC | JS_EVAL_FLAG_COMPILE_ONLY, -1);
    if (JS_IsException(code))
        return -1;
    prepare_bytecode(JS_VALUE_GET_PTR(code));
    function = js_closure(context, code, NULL, NULL);
    if (JS_IsException(function))
        return -1;
    status = program_call(function);
    JS_FreeValue(context, function);
    return status;
}
