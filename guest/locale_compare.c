/* `localeCompare`, whatever locale is named: the order of English. locale_weights.c says what characters weigh. */

enum level { LEVEL_PRIMARY, LEVEL_SECONDARY, LEVEL_CASE, LEVEL_TERTIARY };

static uint32_t weight_at(const struct weight *weight, enum level level, const struct collation *options)
{
    uint8_t tertiary = options->capitals_first ? weight->tertiary ^ CAPITAL : weight->tertiary;

    switch (level) {
    case LEVEL_PRIMARY:
        return weight->primary;
    case LEVEL_SECONDARY:
        return weight->secondary;
    case LEVEL_CASE:
        return weight->primary ? PLAIN | (tertiary & CAPITAL) : 0;
    default:
        return tertiary;
    }
}

static int compare_level(const struct weights *a, const struct weights *b, enum level level,
                         const struct collation *options)
{
    uint32_t i = 0, j = 0;

    for (;;) {
        uint32_t x = 0, y = 0;

        while (i < a->count && !x)
            x = weight_at(&a->list[i++], level, options);
        while (j < b->count && !y)
            y = weight_at(&b->list[j++], level, options);
        if (x != y)
            return x < y ? -1 : 1;
        if (!x)
            return 0;
    }
}

static int compare_weights(const struct weights *a, const struct weights *b, const struct collation *options)
{
    int order = compare_level(a, b, LEVEL_PRIMARY, options);

    if (!order && (options->sensitivity == SENSITIVITY_ACCENT || options->sensitivity == SENSITIVITY_VARIANT))
        order = compare_level(a, b, LEVEL_SECONDARY, options);
    if (!order && options->sensitivity == SENSITIVITY_CASE)
        order = compare_level(a, b, LEVEL_CASE, options);
    if (!order && options->sensitivity == SENSITIVITY_VARIANT)
        order = compare_level(a, b, LEVEL_TERTIARY, options);
    return order;
}

/* Compares without a table of weights: true where the plain ASCII at the start of both decides. */
static bool compare_ascii(JSString *a, JSString *b, int *order)
{
    uint32_t a_length = a->len, b_length = b->len, length = a_length < b_length ? a_length : b_length;
    int capital = 0;

    for (uint32_t i = 0; i < length; i++) {
        int x = string_get(a, (int)i), y = string_get(b, (int)i);

        if (x >= 128 || y >= 128 || !ranks.ascii[x] || !ranks.ascii[y])
            return false;
        if (ranks.ascii[x] != ranks.ascii[y]) {
            *order = ranks.ascii[x] < ranks.ascii[y] ? -1 : 1;
            return true;
        }
        if (x != y && !capital)
            capital = x < y ? 1 : -1;
    }
    if (a_length != b_length) {
        int next = a_length > b_length ? string_get(a, (int)length) : string_get(b, (int)length);

        if (next >= 128 || !ranks.ascii[next])
            return false;
        *order = a_length > b_length ? 1 : -1;
        return true;
    }
    *order = capital;
    return true;
}

/* ---- options ---- */

static int refuse_value(const char *name, const char *value)
{
    JS_ThrowRangeError(context, "Value %.*s out of range for String.prototype.localeCompare options property %s",
                       text_head(value, 40), value, name);
    return -1;
}

/* One of the words, by its place; -1 where the option is not set, -2 with an exception. */
static int word_option(JSValueConst options, const char *name, const char *const *words, int count)
{
    const char *text;
    int found = -1;

    if (text_option(options, name, &text))
        return -2;
    for (int i = 0; text && i < count && found < 0; i++)
        if (!strcmp(text, words[i]))
            found = i;
    if (text && found < 0)
        found = refuse_value(name, text) - 1;
    JS_FreeCString(context, text);
    return found;
}

static int flag_option(JSValueConst options, const char *name, bool *flag)
{
    JSValue value = JS_GetPropertyStr(context, options, name);

    if (JS_IsException(value))
        return -1;
    if (!JS_IsUndefined(value))
        *flag = JS_ToBool(context, value);
    JS_FreeValue(context, value);
    return 0;
}

/* What a locale asks for behind `-u`: `kn` for numbers, `kf-upper` for capitals. */
static void locale_keys(struct collation *c, const char *locale)
{
    const char *keys = strstr(locale, "-u-"), *numbers, *capitals;

    if (!keys)
        return;
    numbers = strstr(keys, "-kn");
    capitals = strstr(keys, "-kf-upper");
    if (numbers && (!numbers[3] || numbers[3] == '-') && strncmp(numbers + 3, "-false", 6))
        c->numeric = true;
    if (capitals)
        c->capitals_first = true;
}

static int collation_locale(struct collation *c, JSValueConst locales)
{
    JSValue first;
    const char *text;

    if (!JS_IsString(locales) && !JS_IsArray(locales))
        return 0;
    first = JS_IsString(locales) ? JS_DupValue(context, locales) : JS_GetPropertyUint32(context, locales, 0);
    if (JS_IsException(first))
        return -1;
    text = JS_IsString(first) ? JS_ToCString(context, first) : NULL;
    if (text)
        locale_keys(c, text);
    JS_FreeCString(context, text);
    JS_FreeValue(context, first);
    return JS_HasException(context) ? -1 : 0;
}

static int collation_options(struct collation *c, JSValueConst options)
{
    static const char *const sensitivities[] = { "base", "accent", "case", "variant" };
    static const char *const cases[] = { "upper", "lower", "false" };
    int sensitivity, first;

    if (JS_IsNull(options)) {
        JS_ThrowTypeError(context, "Cannot convert undefined or null to object");
        return -1;
    }
    if (!JS_IsObject(options))
        return 0;
    if (flag_option(options, "numeric", &c->numeric))
        return -1;
    first = word_option(options, "caseFirst", cases, countof(cases));
    sensitivity = first < -1 ? -2 : word_option(options, "sensitivity", sensitivities, countof(sensitivities));
    if (sensitivity < -1 || flag_option(options, "ignorePunctuation", &c->no_punctuation))
        return -1;
    if (first >= 0)
        c->capitals_first = first == 0;
    if (sensitivity >= 0)
        c->sensitivity = (enum sensitivity)sensitivity;
    return 0;
}

static int compare_texts(JSString *a, JSString *b, const struct collation *options, int *order)
{
    struct weights x = { 0 }, y = { 0 };
    int status = weights_of(&x, a, options) || weights_of(&y, b, options) ? -1 : 0;

    if (!status)
        *order = compare_weights(&x, &y, options);
    js_free(context, x.list);
    js_free(context, y.list);
    return status;
}

static int compare_strings(JSString *a, JSString *b, const struct collation *options, int *order)
{
    bool plain = options->sensitivity == SENSITIVITY_VARIANT && !options->numeric && !options->capitals_first &&
                 !options->no_punctuation;

    return plain && compare_ascii(a, b, order) ? 0 : compare_texts(a, b, options, order);
}

static JSValue locale_compare(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    struct collation options = { .sensitivity = SENSITIVITY_VARIANT };
    JSValue a = JS_ToStringCheckObject(ctx, this_value), b;
    int order = 0, status = -1;

    if (JS_IsException(a))
        return JS_EXCEPTION;
    b = JS_ToString(ctx, argv[0]);
    if (JS_IsException(b)) {
        JS_FreeValue(ctx, a);
        return JS_EXCEPTION;
    }
    if (argc < 2 || (!collation_locale(&options, argv[1]) && (argc < 3 || !collation_options(&options, argv[2]))))
        status = compare_strings(JS_VALUE_GET_STRING(a), JS_VALUE_GET_STRING(b), &options, &order);
    JS_FreeValue(ctx, a);
    JS_FreeValue(ctx, b);
    return status ? JS_EXCEPTION : JS_NewInt32(ctx, order);
}
