/* The life of a program: compiled, its names unbound, run as an async function of ours, its value kept here and not in an
 * object of the engine's that the program could reach.
 */

static struct {
    uint32_t number;
    JSValue value; /* its value, or the reason of its rejection */
    JSAsyncFunctionData *frame; /* held, so that a program that waits for ever can tell where */
} program = { 0, JS_UNDEFINED, NULL };

static JSValue program_settled(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                               JSValueConst *data);

/* Functions of ours that are told how a promise ended; bound to the program, so that a late one is ignored. */
static int program_handlers(JSValue handlers[2])
{
    JSValue number = JS_NewUint32(context, program.number);

    for (int i = 0; i < 2; i++)
        handlers[i] = JS_NewCFunctionData(context, program_settled, 1, i, 1, vc(&number));
    return JS_IsException(handlers[0]) || JS_IsException(handlers[1]) ? -1 : 0;
}

#define SETTLED_REJECTED 1

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
    int status = program_handlers(handlers);

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
    if (JS_IsPromise(value))
        return program_await(value) ? JS_EXCEPTION : JS_UNDEFINED;
    program_end(PROGRAM_FULFILLED, value);
    return JS_UNDEFINED;
}

static void program_forget(void)
{
    JSAsyncFunctionData *frame = program.frame;

    program.frame = NULL;
    set_value(context, &program.value, JS_UNDEFINED);
    if (frame)
        js_async_function_free(runtime, frame);
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

/* Unbinds the names that the compiled program declares. */
static void unbind_declared(JSFunctionBytecode *code)
{
    uint8_t *at = code->byte_code_buf, *end = at + code->byte_code_len;

    for (; at < end; at += short_opcode_info(*at).size)
        if (*at == OP_check_define_var)
            unbind(get_u32(at + 1), at[5]);
}

/* Whether the statement at hand may hold a `return` of the program: one that begins with a declaration cannot. */
static bool may_return(JSParseState *s)
{
    switch (s->token.val) {
    case '{':
    case TOK_IF:
    case TOK_FOR:
    case TOK_WHILE:
    case TOK_DO:
    case TOK_SWITCH:
    case TOK_TRY:
    case TOK_WITH:
    case TOK_RETURN:
        return true;
    default:
        return is_label(s);
    }
}

/* A `var` inside a block must not be the name of a lexical of the program, which the engine only sees in eval code. */
static int check_vars(JSParseState *s, int from)
{
    JSFunctionDef *function = s->cur_func;

    for (int i = from; i < function->global_var_count; i++)
        if (!function->global_vars[i].is_lexical &&
            find_lexical_global_var(function, function->global_vars[i].var_name))
            return js_parse_error(s, "invalid redefinition of lexical identifier");
    return 0;
}

/* As the engine parses a script, but `return` ends the program, and its value is returned as it is. */
static int parse_program(JSParseState *s, bool with_return)
{
    JSFunctionDef *function = s->cur_func;

    if (next_token(s) || js_parse_directives(s))
        return -1;
    function->is_global_var = true;
    function->eval_ret_idx = add_var(context, function, JS_ATOM__ret_);
    if (function->eval_ret_idx < 0)
        return -1;
    while (s->token.val != TOK_EOF) {
        int vars = function->global_var_count, failed;
        bool returns = with_return && may_return(s);

        /* The engine refuses `return` in eval code; statements declare nothing that only eval code may. */
        function->is_eval = !returns;
        failed = js_parse_source_element(s);
        function->is_eval = true;
        if (failed || (returns && check_vars(s, vars)))
            return -1;
        if (function->scopes[function->body_scope].has_using)
            return js_parse_error(s, "a using declaration needs a block around it");
    }
    emit_op(s, OP_get_loc);
    emit_u16(s, function->eval_ret_idx);
    emit_return(s, true);
    return 0;
}

/* As the engine's eval of a global async script. */
static JSValue compile_script(const char *source, uint32_t length, const char *file, bool with_return)
{
    JSParseState state;
    JSFunctionDef *function;

    js_parse_init(context, &state, source, length, file, 1);
    skip_shebang(&state.buf_ptr, state.buf_end);
    function = js_new_function_def(context, NULL, true, false, file, 1, 1);
    if (!function)
        return JS_EXCEPTION;
    state.cur_func = function;
    function->eval_type = JS_EVAL_TYPE_GLOBAL;
    function->has_this_binding = true;
    function->arguments_allowed = true;
    function->in_function_body = true;
    function->func_kind = JS_FUNC_ASYNC;
    function->func_name = JS_DupAtom(context, JS_ATOM__eval_);
    state.allow_html_comments = true;
    push_scope(&state);
    function->body_scope = function->scope_level;
    if (parse_program(&state, with_return)) {
        free_token(&state, &state.token);
        js_free_function_def(context, function);
        return JS_EXCEPTION;
    }
    return js_create_function(context, function);
}

/* Whether the current exception is the engine's refusal of `return` outside of functions. */
static bool wants_return(void)
{
    static const char refusal[] = "return not in a function";
    JSValue exception = JS_GetException(context);
    JSValueConst message = JS_UNDEFINED;
    const char *text;
    bool wants = false;

    if (JS_IsObject(exception))
        message = data_property(JS_VALUE_GET_OBJ(exception), JS_ATOM_message);
    text = JS_IsString(message) ? JS_ToCString(context, message) : NULL;
    wants = text && !strcmp(text, refusal);
    JS_FreeCString(context, text);
    if (wants)
        JS_FreeValue(context, exception);
    else
        JS_Throw(context, exception);
    return wants;
}

/* Only a program that has a top-level `return` is parsed the second way, which knows less about names in blocks. */
static JSValue compile_program(const char *source, uint32_t length, const char *file)
{
    JSValue code = compile_script(source, length, file, false);

    if (JS_IsException(code) && wants_return())
        code = compile_script(source, length, file, true);
    return code;
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
    if (!program_handlers(data->resolving_funcs) &&
        !async_func_init(context, &data->func_state, function, context->global_obj, 0, NULL)) {
        data->is_active = true;
        data->func_state.frame.cur_gc_obj = &data->header;
        alive = js_async_function_resume(context, data);
    }
    program.frame = data;
    return alive ? 0 : -1;
}

/* `program-N.js`. Formatting it by printf takes a tenth of what an empty program does. */
static void program_file(char file[32])
{
    size_t at = strlen("program-");

    memcpy(file, "program-", at);
    at += u32toa(file + at, program.number);
    memcpy(file + at, ".js", sizeof(".js"));
}

static int program_run(const char *source, uint32_t length)
{
    char file[32];
    JSValue code, function;
    int status;

    program_file(file);
    code = compile_program(source, length, file);
    if (JS_IsException(code))
        return -1;
    unbind_declared(JS_VALUE_GET_PTR(code));
    function = js_closure(context, code, NULL, NULL);
    if (JS_IsException(function))
        return -1;
    status = program_call(function);
    JS_FreeValue(context, function);
    return status;
}

#define HANGS_MOST 8

/* Where async functions wait: for each its name, file, line and column, the latest first. */
static JSValue program_hangs(void)
{
    JSValue list = JS_NewArray(context);
    struct list_head *at;
    uint32_t count = 0;

    if (JS_IsException(list))
        return list;
    for (at = runtime->gc_obj_list.prev; at != &runtime->gc_obj_list && count < HANGS_MOST; at = at->prev) {
        JSGCObjectHeader *header = list_entry(at, JSGCObjectHeader, link);
        JSAsyncFunctionData *data = (JSAsyncFunctionData *)header;
        JSStackFrame *frame = &data->func_state.frame;
        JSFunctionBytecode *code;
        JSValue parts[4], entry;
        int line, column = 0;

        if (js_rc(header)->gc_obj_type != JS_GC_OBJ_TYPE_ASYNC_FUNCTION || !data->is_active || !JS_IsObject(frame->cur_func))
            continue;
        code = JS_VALUE_GET_OBJ(frame->cur_func)->u.func.function_bytecode;
        line = find_line_num(context, code, (uint32_t)(frame->cur_pc - code->byte_code_buf - 1), &column);
        parts[0] = JS_AtomToString(context, code->func_name);
        parts[1] = JS_AtomToString(context, code->filename);
        parts[2] = JS_NewInt32(context, line);
        parts[3] = JS_NewInt32(context, column);
        entry = js_create_array(context, 4, vc(parts));
        for (int i = 0; i < 4; i++)
            JS_FreeValue(context, parts[i]);
        if (JS_IsException(entry) || JS_DefinePropertyValueUint32(context, list, count++, entry, JS_PROP_C_W_E) < 0) {
            JS_FreeValue(context, list);
            return JS_EXCEPTION;
        }
    }
    return list;
}
