/* What programs expect beside the language, made once, before the baseline image is taken. All of it is C: nothing here
 * depends on what a program may change, and a session that does not use it touches none of its memory.
 */

static const JSCFunctionListEntry web_functions[] = {
    JS_CFUNC_DEF("structuredClone", 1, structured_clone),
};

static int web_init(void)
{
    if (JS_SetPropertyFunctionList(context, context->global_obj, web_functions, countof(web_functions)))
        return -1;
    return search_params_init() || url_init() || encoding_init() || event_init() || abort_init() || crypto_init() ||
                   locale_init() || console_init()
               ? -1
               : 0;
}
