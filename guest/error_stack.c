/* `stack` of errors begins with name and message, as programs print it. What is kept, and what crosses to the host, is the
 * frames alone.
 */

static JSValue error_stack_get(JSContext *ctx, JSValueConst this_value)
{
    JSValue frames = js_error_get_stack(ctx, this_value), head;
    uint32_t length;

    if (JS_IsUndefined(frames) && JS_IsObject(this_value) && JS_VALUE_GET_OBJ(this_value)->class_id == JS_CLASS_ERROR)
        frames = js_empty_string(runtime); /* never thrown */
    if (JS_VALUE_GET_TAG(frames) != JS_TAG_STRING)
        return frames;
    head = js_error_toString(ctx, this_value, 0, NULL);
    length = JS_VALUE_GET_STRING(frames)->len;
    if (JS_IsException(head) || !length) {
        JS_FreeValue(ctx, frames);
        return head;
    }
    if (string_get(JS_VALUE_GET_STRING(frames), (int)length - 1) == '\n') {
        JSValue cut = js_sub_string(ctx, JS_VALUE_GET_STRING(frames), 0, (int)length - 1);

        JS_FreeValue(ctx, frames);
        frames = cut;
    }
    return JS_ConcatString(ctx, JS_ConcatString3(ctx, "", head, "\n"), frames);
}

static int error_stack_init(void)
{
    static const JSCFunctionListEntry stack[] = { JS_CGETSET_DEF("stack", error_stack_get, js_error_set_stack) };

    return JS_SetPropertyFunctionList(context, context->class_proto[JS_CLASS_ERROR], stack, countof(stack));
}
