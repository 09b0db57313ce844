/* The class URL: a parsed URL and, once asked for, its live URLSearchParams. */

struct url_object {
    struct url url;
    struct params *params;  /* absent until `searchParams` is read */
    JSValue search_params;
};

static JSClassID url_class;

static void url_finalizer(JSRuntime *rt, JSValueConst value)
{
    struct url_object *object = JS_GetOpaque(value, url_class);

    if (!object)
        return;
    url_free(&object->url);
    params_release(rt, object->params);
    JS_FreeValueRT(rt, object->search_params);
    js_free_rt(rt, object);
}

static void url_mark(JSRuntime *rt, JSValueConst value, JS_MarkFunc *mark)
{
    struct url_object *object = JS_GetOpaque(value, url_class);

    if (object)
        JS_MarkValue(rt, object->search_params, mark);
}

/* Writes the query anew if its parameters were changed. */
static int url_refresh(struct url_object *object)
{
    struct params *p = object->params;

    if (!p || !p->changed)
        return 0;
    object->url.query.length = 0;
    object->url.has_query = p->count > 0;
    if (params_write(&object->url.query, p))
        return -1;
    p->changed = false;
    return 0;
}

/* Reads the parameters anew after the query was set. */
static int url_reread(struct url_object *object)
{
    struct params *p = object->params;
    const struct bytes *query = &object->url.query;

    if (!p)
        return 0;
    params_clear(runtime, p);
    if (params_parse(p, query->data, query->data + query->length))
        return -1;
    p->changed = false;
    return 0;
}

static struct url_object *url_of(JSValueConst value)
{
    struct url_object *object = JS_GetOpaque2(context, value, url_class);

    return object && !url_refresh(object) ? object : NULL;
}

static void throw_invalid_url(JSValueConst input)
{
    JSValue error;

    JS_ThrowTypeError(context, "Invalid URL");
    error = JS_GetException(context);
    if (JS_IsObject(error) && JS_IsError(error)) {
        JS_DefinePropertyValueStr(context, error, "code", JS_NewString(context, "ERR_INVALID_URL"), JS_PROP_C_W_E);
        JS_DefinePropertyValueStr(context, error, "input", JS_IsObject(input) ? JS_UNDEFINED : usv_string(input),
                                  JS_PROP_C_W_E);
    }
    JS_Throw(context, error);
}

/* Parses text against a base that may be undefined: 0, INVALID, or -1 with an exception. */
static int url_from_values(struct url *url, JSValueConst input, JSValueConst base)
{
    struct url base_url = { 0 };
    struct bytes text = { 0 };
    bool has_base = !JS_IsUndefined(base);
    int status = 0;

    if (has_base) {
        status = url_text(&text, base, true);
        if (!status)
            status = url_parse(&base_url, NULL, (struct cursor){ text.data, text.data + text.length });
    }
    text.length = 0;
    if (!status)
        status = url_text(&text, input, true);
    if (!status)
        status = url_parse(url, has_base ? &base_url : NULL, (struct cursor){ text.data, text.data + text.length });
    bytes_free(&text);
    url_free(&base_url);
    return status;
}

static int wants_url(int argc)
{
    if (argc > 0)
        return 0;
    JS_ThrowTypeError(context, "a URL is expected");
    return -1;
}

/* A new object, undefined where the text is no URL, or an exception. */
static JSValue url_new(JSValueConst new_target, int argc, JSValueConst *argv)
{
    struct url_object *object = js_mallocz(context, sizeof(*object));
    JSValue value = JS_EXCEPTION;
    int status;

    if (!object)
        return JS_EXCEPTION;
    object->search_params = JS_UNDEFINED;
    status = url_from_values(&object->url, argv[0], argc > 1 ? argv[1] : JS_UNDEFINED);
    if (!status)
        value = new_object_of(new_target, url_class, object);
    if (JS_IsException(value)) {
        url_free(&object->url);
        js_free(context, object);
    }
    return status == INVALID ? JS_UNDEFINED : value;
}

static JSValue url_constructor(JSContext *ctx, JSValueConst new_target, int argc, JSValueConst *argv)
{
    JSValue value;

    (void)ctx;
    if (JS_IsUndefined(new_target))
        return wants_new("URL");
    if (wants_url(argc))
        return JS_EXCEPTION;
    value = url_new(new_target, argc, argv);
    if (!JS_IsUndefined(value))
        return value;
    throw_invalid_url(argv[0]);
    return JS_EXCEPTION;
}

static JSValue url_static_parse(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    JSValue value;

    (void)ctx;
    (void)this_value;
    if (wants_url(argc))
        return JS_EXCEPTION;
    value = url_new(JS_UNDEFINED, argc, argv);
    return JS_IsUndefined(value) ? JS_NULL : value;
}

static JSValue url_can_parse(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct url url = { 0 };
    int status;

    (void)ctx;
    (void)this_value;
    if (wants_url(argc))
        return JS_EXCEPTION;
    status = url_from_values(&url, argv[0], argc > 1 ? argv[1] : JS_UNDEFINED);
    url_free(&url);
    return status < 0 ? JS_EXCEPTION : js_bool(status == 0);
}

enum {
    URL_HREF,
    URL_ORIGIN,
    URL_PROTOCOL,
    URL_USERNAME,
    URL_PASSWORD,
    URL_HOST,
    URL_HOSTNAME,
    URL_PORT,
    URL_PATHNAME,
    URL_SEARCH,
    URL_HASH,
};

/* A part behind its mark, or nothing where it is empty. */
static int write_marked(struct bytes *out, char mark, const struct bytes *part)
{
    if (part->length == 0)
        return 0;
    return bytes_add(out, (uint8_t)mark) || bytes_put(out, part->data, part->length) ? -1 : 0;
}

static int url_write_part(struct bytes *out, const struct url *url, int part)
{
    char port[8];

    switch (part) {
    case URL_HREF:
        return url_write(out, url);
    case URL_ORIGIN:
        return write_origin(out, url);
    case URL_PROTOCOL:
        return bytes_put(out, url->scheme.data, url->scheme.length) || bytes_add(out, ':') ? -1 : 0;
    case URL_USERNAME:
        return bytes_put(out, url->username.data, url->username.length);
    case URL_PASSWORD:
        return bytes_put(out, url->password.data, url->password.length);
    case URL_HOST:
        return write_host_and_port(out, url);
    case URL_HOSTNAME:
        return bytes_put(out, url->host.data, url->host.length);
    case URL_PORT:
        snprintf(port, sizeof(port), "%d", (int)url->port);
        return url->port < 0 ? 0 : bytes_text(out, port);
    case URL_PATHNAME:
        return bytes_put(out, url->path.data, url->path.length);
    case URL_SEARCH:
        return write_marked(out, '?', &url->query);
    default:
        return write_marked(out, '#', &url->fragment);
    }
}

static JSValue url_get(JSContext *ctx, JSValueConst this_value, int part)
{
    struct url_object *object = url_of(this_value);
    struct bytes out = { 0 };
    JSValue text;

    (void)ctx;
    if (!object)
        return JS_EXCEPTION;
    text = url_write_part(&out, &object->url, part) ? JS_EXCEPTION : string_of_bytes(&out);
    bytes_free(&out);
    return text;
}

static JSValue url_to_string(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    (void)argc;
    (void)argv;
    return url_get(ctx, this_value, URL_HREF);
}

static int set_credential(struct url *url, struct bytes *part, struct cursor c)
{
    if (has_no_credentials(url))
        return 0;
    part->length = 0;
    return percent_encode(part, c.at, c.end, in_userinfo);
}

static int set_pathname(struct url *url, struct cursor c)
{
    if (url->is_opaque)
        return 0;
    url->path.length = 0;
    return parse_path_start(url, c, true);
}

static int set_port(struct url *url, struct cursor c)
{
    if (has_no_credentials(url))
        return 0;
    if (c.at == c.end)
        url->port = -1;
    else
        parse_port(url, c, true);
    return 0;
}

static int url_set_part(struct url *url, int part, struct cursor c)
{
    switch (part) {
    case URL_PROTOCOL:
        return set_protocol(url, c);
    case URL_USERNAME:
        return set_credential(url, &url->username, c);
    case URL_PASSWORD:
        return set_credential(url, &url->password, c);
    case URL_HOST:
    case URL_HOSTNAME:
        return url->is_opaque ? 0 : set_host(url, c, part == URL_HOST);
    case URL_PORT:
        return set_port(url, c);
    case URL_PATHNAME:
        return set_pathname(url, c);
    case URL_SEARCH:
        return set_query(url, c);
    default:
        return set_fragment(url, c);
    }
}

static JSValue url_set_href(struct url_object *object, JSValueConst value)
{
    struct url url = { 0 };
    int status = url_from_values(&url, value, JS_UNDEFINED);

    if (status) {
        url_free(&url);
        if (status == INVALID)
            throw_invalid_url(value);
        return JS_EXCEPTION;
    }
    url_free(&object->url);
    object->url = url;
    return url_reread(object) ? JS_EXCEPTION : JS_UNDEFINED;
}

static JSValue url_set(JSContext *ctx, JSValueConst this_value, JSValueConst value, int part)
{
    struct url_object *object = url_of(this_value);
    struct bytes text = { 0 };
    int status;

    (void)ctx;
    if (!object)
        return JS_EXCEPTION;
    if (part == URL_HREF)
        return url_set_href(object, value);
    if (part == URL_USERNAME || part == URL_PASSWORD)
        status = bytes_of_value(&text, value);
    else
        status = url_text(&text, value, false);
    if (!status && part == URL_PROTOCOL)
        status = bytes_add(&text, ':');
    if (!status)
        status = url_set_part(&object->url, part, (struct cursor){ text.data, text.data + text.length });
    bytes_free(&text);
    if (!status && part == URL_SEARCH)
        status = url_reread(object);
    return status ? JS_EXCEPTION : JS_UNDEFINED;
}

static JSValue url_search_params(JSContext *ctx, JSValueConst this_value)
{
    struct url_object *object = JS_GetOpaque2(ctx, this_value, url_class); /* its query may stay as it was */
    struct params *p;

    if (!object)
        return JS_EXCEPTION;
    if (object->params)
        return js_dup(object->search_params);
    p = params_new();
    if (!p)
        return JS_EXCEPTION;
    p->references++;
    object->search_params = params_object(JS_UNDEFINED, p);
    if (JS_IsException(object->search_params)) {
        object->search_params = JS_UNDEFINED;
        params_release(runtime, p);
        return JS_EXCEPTION;
    }
    object->params = p;
    return url_reread(object) ? JS_EXCEPTION : js_dup(object->search_params);
}

#define URL_PART(name, part) JS_CGETSET_MAGIC_DEF2(name, url_get, url_set, part, JS_PROP_CONFIGURABLE | JS_PROP_ENUMERABLE)

static const JSCFunctionListEntry url_members[] = {
    URL_PART("href", URL_HREF),
    JS_CGETSET_MAGIC_DEF2("origin", url_get, NULL, URL_ORIGIN, JS_PROP_CONFIGURABLE | JS_PROP_ENUMERABLE),
    URL_PART("protocol", URL_PROTOCOL),
    URL_PART("username", URL_USERNAME),
    URL_PART("password", URL_PASSWORD),
    URL_PART("host", URL_HOST),
    URL_PART("hostname", URL_HOSTNAME),
    URL_PART("port", URL_PORT),
    URL_PART("pathname", URL_PATHNAME),
    URL_PART("search", URL_SEARCH),
    JS_CGETSET_DEF2("searchParams", url_search_params, NULL, JS_PROP_CONFIGURABLE | JS_PROP_ENUMERABLE),
    URL_PART("hash", URL_HASH),
    JS_CFUNC_DEF("toString", 0, url_to_string),
    JS_CFUNC_DEF("toJSON", 0, url_to_string),
    JS_PROP_STRING_DEF("[Symbol.toStringTag]", "URL", JS_PROP_CONFIGURABLE),
};

static const JSCFunctionListEntry url_functions[] = {
    JS_CFUNC_DEF("canParse", 1, url_can_parse),
    JS_CFUNC_DEF("parse", 1, url_static_parse),
};

static int url_init(void)
{
    JSValue constructor;

    url_class = new_class("URL", url_finalizer, url_mark);
    if (!url_class)
        return -1;
    constructor = JS_NewCConstructor(context, (int)url_class, "URL", url_constructor, 1, JS_CFUNC_constructor_or_func, 0,
                                     JS_UNDEFINED, url_functions, countof(url_functions), url_members,
                                     countof(url_members), 0);
    if (JS_IsException(constructor))
        return -1;
    JS_FreeValue(context, constructor);
    return 0;
}
