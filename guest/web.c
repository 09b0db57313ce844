/* What programs expect beside the language, made once, before the baseline image is taken. All of it is C: nothing here
 * depends on what a program may change, and a session that does not use it touches none of its memory.
 */

static bool is_web_text(const JSObject *object)
{
    return object->class_id == url_class || object->class_id == params_class;
}

#define WEB_TEXT 960 /* bytes of it that are shown */

/* Shown with their text; none of a program's code is run for it. */
static int encode_web_text(struct encoder *e, JSObject *object, const struct path_step *path)
{
    JSValueConst value = JS_MKPTR(JS_TAG_OBJECT, object);
    bool is_url = object->class_id == url_class;
    JSValue text = is_url ? url_get(context, value, URL_HREF) : params_to_string(context, value, 0, NULL);
    char bytes[WEB_TEXT + 1], shown[WEB_TEXT + 64];
    const char *more;

    if (JS_IsException(text))
        return -1;
    string_head(bytes, sizeof(bytes), text);
    more = string_rope_get_len(text) > strlen(bytes) ? "..." : "";
    JS_FreeValue(context, text);
    snprintf(shown, sizeof(shown), is_url ? "URL { href: '%s%s' }" : "URLSearchParams { '%s%s' }", bytes, more);
    return encode_foreign(
        e, is_url ? "a URL cannot cross, pass its href" : "URLSearchParams cannot cross, pass their text", shown, path);
}

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
