/* Global functions of the host, fixed as `tools` is: `reveal`, and the tools that programs call by a bare name. */

static JSAtom *global_names;
static uint32_t global_count;

/* Takes away what a global name stands for, however a program declared it. */
static int global_forget(JSAtom atom)
{
    JSObject *global = JS_VALUE_GET_OBJ(context->global_obj);
    JSShapeProperty *property = find_own_property1(global, atom);

    delete_property(context, JS_VALUE_GET_OBJ(context->global_var_obj), atom);
    if (!property)
        return 0;
    if (js_shape_prepare_update(context, global, &property))
        return -1;
    property->flags |= JS_PROP_CONFIGURABLE;
    return delete_property(context, global, atom) < 0 ? -1 : 0;
}

/* Takes away all that were put there. */
static int globals_clear(void)
{
    for (; global_count; global_count--) {
        JSAtom atom = global_names[global_count - 1];

        if (global_forget(atom))
            return -1;
        JS_FreeAtom(context, atom);
    }
    js_free(context, global_names);
    global_names = NULL;
    return 0;
}

static int global_note(JSAtom atom)
{
    JSAtom *names = js_realloc(context, global_names, sizeof(*names) * (global_count + 1));

    if (!names)
        return -1;
    global_names = names;
    global_names[global_count++] = JS_DupAtom(context, atom);
    return 0;
}

/* Puts a function there that makes calls of the name `call_name`. */
static int global_publish(const char *path, uint32_t length, JSCFunctionData *call, JSValueConst call_name)
{
    JSAtom atom = JS_NewAtomLen(context, path, length);
    JSValue function;
    int status = -1;

    if (atom == JS_ATOM_NULL)
        return -1;
    function = new_fixed_function(call, call_name);
    if (JS_IsException(function) || global_forget(atom) || global_note(atom)) {
        JS_FreeValue(context, function);
    } else {
        if (STANDS(DEFENCE_FROZEN_TOOLS))
            JS_FreeValue(context, js_object_seal(context, JS_UNDEFINED, 1, vc(&function), 1));
        status = JS_DefinePropertyValue(context, context->global_obj, atom, function, JS_PROP_ENUMERABLE) < 0 ? -1 : 0;
    }
    JS_FreeAtom(context, atom);
    return status;
}
