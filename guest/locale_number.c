/* `toLocaleString` of numbers, whatever locale is named: as in en-US. There is no `Intl`. An option that would change the
 * text and is not known here is an error, since a text that silently ignores it would be wrong.
 */

/* Digits of a number: 0.d1d2d3… times ten to the `point`. */
struct decimal {
    char digits[40];
    int count;
    int point;
    bool negative;
};

struct number_style {
    int least; /* digits of the fraction */
    int most;
    bool groups;
    bool percent;
    const char *currency; /* the sign before the number, null for none */
};

#define FRACTION_MAX 100

/* ---- options ---- */

/* A text option, null where it is not set: 0, or -1 with an exception. The caller frees it. */
static int text_option(JSValueConst options, const char *name, const char **text)
{
    JSValue value;

    *text = NULL;
    if (!JS_IsObject(options))
        return 0;
    value = JS_GetPropertyStr(context, options, name);
    if (JS_IsException(value))
        return -1;
    if (!JS_IsUndefined(value))
        *text = JS_ToCString(context, value);
    JS_FreeValue(context, value);
    return JS_HasException(context) ? -1 : 0;
}

/* A whole number from 0 to `most`, -1 where it is not set. */
static int number_option(JSValueConst options, const char *name, int most, int *number)
{
    JSValue value;
    double given;

    *number = -1;
    if (!JS_IsObject(options))
        return 0;
    value = JS_GetPropertyStr(context, options, name);
    if (JS_IsUndefined(value))
        return 0;
    if (JS_IsException(value) || JS_ToFloat64Free(context, &given, value))
        return -1;
    if (!(given >= 0 && given <= most)) {
        JS_ThrowRangeError(context, "%s value is out of range.", name);
        return -1;
    }
    *number = (int)given;
    return 0;
}

static int refuse_option(JSValueConst options, const char *name)
{
    JSValue value;

    if (!JS_IsObject(options))
        return 0;
    value = JS_GetPropertyStr(context, options, name);
    if (JS_IsUndefined(value))
        return 0;
    JS_FreeValue(context, value);
    if (!JS_IsException(value))
        JS_ThrowTypeError(context, "the option %s is not available here: there is no Intl", name);
    return -1;
}

static int refuse_options(JSValueConst options, const char *const *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (refuse_option(options, names[i]))
            return -1;
    return 0;
}

/* ---- numbers ---- */

static const char *currency_sign(const char *code)
{
    static const char *const signs[][2] = { { "USD", "$" },   { "EUR", "€" },   { "GBP", "£" },   { "JPY", "¥" },
                                            { "INR", "₹" },   { "KRW", "₩" },   { "CNY", "CN¥" }, { "BRL", "R$" },
                                            { "CAD", "CA$" }, { "AUD", "A$" },  { "MXN", "MX$" }, { "NZD", "NZ$" },
                                            { "ILS", "₪" },   { "VND", "₫" },   { "TWD", "NT$" }, { "HKD", "HK$" } };

    for (uint32_t i = 0; i < countof(signs); i++)
        if (!strcasecmp(code, signs[i][0]))
            return signs[i][1];
    return NULL;
}

/* The text of the option `currency`, null where it is not set; an error for what cannot be the code of one, as in Node
 * also where the style is another. The caller frees it.
 */
static int currency_code(JSValueConst options, const char **code)
{
    bool is_code = true;

    if (text_option(options, "currency", code))
        return -1;
    if (!*code)
        return 0;
    for (const char *c = *code; *c; c++)
        is_code = is_code && is_letter((uint8_t)*c);
    if (is_code && strlen(*code) == 3)
        return 0;
    JS_ThrowRangeError(context, "Invalid currency code : %.*s", text_head(*code, 40), *code);
    JS_FreeCString(context, *code);
    return -1;
}

static bool is_whole_currency(const char *code)
{
    return !strcasecmp(code, "JPY") || !strcasecmp(code, "KRW") || !strcasecmp(code, "VND");
}

static int currency_style(struct number_style *style, const char *code, char sign[16])
{
    const char *known;

    if (!code) {
        JS_ThrowTypeError(context, "Currency code is required with currency style.");
        return -1;
    }
    known = currency_sign(code);
    if (known)
        snprintf(sign, 16, "%s", known);
    else
        snprintf(sign, 16, "%c%c%c\xc2\xa0", code[0] & ~0x20, code[1] & ~0x20, code[2] & ~0x20);
    style->currency = sign;
    style->least = style->most = is_whole_currency(code) ? 0 : 2;
    return 0;
}

static int named_style(struct number_style *style, JSValueConst options, const char *name, char sign[16])
{
    const char *code;
    int status = 0;

    if (currency_code(options, &code))
        return -1;
    if (name && !strcmp(name, "percent")) {
        style->percent = true;
        style->most = 0;
    } else if (name && !strcmp(name, "currency")) {
        status = currency_style(style, code, sign);
    } else if (name && strcmp(name, "decimal")) {
        JS_ThrowRangeError(context, "Value %.*s out of range for Number.prototype.toLocaleString options property style",
                           text_head(name, 40), name);
        status = -1;
    }
    JS_FreeCString(context, code);
    return status;
}

static int number_style(struct number_style *style, JSValueConst options, char sign[16])
{
    static const char *const unknown[] = { "notation",  "unit",
                                           "signDisplay", "minimumIntegerDigits", "minimumSignificantDigits",
                                           "maximumSignificantDigits", "currencyDisplay", "currencySign",
                                           "roundingMode", "roundingIncrement" };
    const char *name;
    int groups = 1, status;

    *style = (struct number_style){ .least = 0, .most = 3, .groups = true };
    if (refuse_options(options, unknown, countof(unknown)) || text_option(options, "style", &name))
        return -1;
    status = named_style(style, options, name, sign);
    JS_FreeCString(context, name);
    if (status)
        return -1;
    if (JS_IsObject(options)) {
        JSValue value = JS_GetPropertyStr(context, options, "useGrouping");

        if (JS_IsException(value))
            return -1;
        groups = JS_IsUndefined(value) || JS_ToBool(context, value);
        JS_FreeValue(context, value);
    }
    style->groups = groups;
    return 0;
}

static int fraction_style(struct number_style *style, JSValueConst options)
{
    int least, most;

    if (number_option(options, "minimumFractionDigits", FRACTION_MAX, &least) ||
        number_option(options, "maximumFractionDigits", FRACTION_MAX, &most))
        return -1;
    if (least >= 0 && most >= 0 && least > most) {
        JS_ThrowRangeError(context, "maximumFractionDigits value is out of range.");
        return -1;
    }
    if (least >= 0)
        style->least = least;
    if (most >= 0)
        style->most = most;
    if (most < 0 && style->most < style->least)
        style->most = style->least;
    if (least < 0 && style->least > style->most)
        style->least = style->most;
    return 0;
}

/* The shortest digits that stand for a finite number. */
static void decimal_of(struct decimal *d, double number)
{
    JSDTOATempMem memory;
    char text[64];
    int length = js_dtoa(text, fabs(number), 10, 0, JS_DTOA_FORMAT_FREE | JS_DTOA_EXP_ENABLED, &memory);

    memset(d, 0, sizeof(*d));
    d->negative = signbit(number);
    for (int i = 0; i < length; i++) {
        if (text[i] == '.') {
            d->point = d->count;
        } else if (text[i] == 'e') {
            d->point = (d->point ? d->point : d->count) + atoi(text + i + 1);
            return;
        } else if (d->count < (int)sizeof(d->digits) - 1) {
            d->digits[d->count++] = text[i];
        }
    }
    if (!memchr(text, '.', (size_t)length))
        d->point = d->count;
}

/* Rounds half away from zero to so many digits of the fraction. */
static void decimal_round(struct decimal *d, int most)
{
    int kept = d->point + most;

    if (kept >= d->count)
        return;
    if (kept < 0) {
        d->count = 0;
        return;
    }
    d->count = kept;
    if (d->digits[kept] < '5')
        return;
    while (kept > 0 && d->digits[kept - 1] == '9')
        d->digits[--kept] = '0';
    if (kept > 0) {
        d->digits[kept - 1]++;
        return;
    }
    memmove(d->digits + 1, d->digits, (size_t)d->count);
    d->digits[0] = '1';
    d->count++;
    d->point++;
}

static char decimal_digit(const struct decimal *d, int place)
{
    return place >= 0 && place < d->count ? d->digits[place] : '0';
}

static bool decimal_is_zero(const struct decimal *d)
{
    for (int i = 0; i < d->count; i++)
        if (d->digits[i] != '0')
            return false;
    return true;
}

static int put_decimal(struct bytes *out, const struct decimal *d, const struct number_style *style)
{
    int whole = d->point > 0 ? d->point : 1, shift = whole - d->point, digits = d->count - d->point;

    for (int i = 0; i < whole; i++)
        if (bytes_add(out, (uint8_t)decimal_digit(d, i - shift)) ||
            (style->groups && i + 1 < whole && (whole - i - 1) % 3 == 0 && bytes_add(out, ',')))
            return -1;
    while (digits > style->least && decimal_digit(d, d->point + digits - 1) == '0')
        digits--;
    if (digits < style->least)
        digits = style->least;
    if (digits > 0 && bytes_add(out, '.'))
        return -1;
    for (int i = 0; i < digits; i++)
        if (bytes_add(out, (uint8_t)decimal_digit(d, d->point + i)))
            return -1;
    return 0;
}

static int put_number_text(struct bytes *out, double number, const struct number_style *style)
{
    struct decimal d = { 0 };

    if (isnan(number))
        return bytes_text(out, style->currency ? style->currency : "") || bytes_text(out, "NaN") ||
                       (style->percent && bytes_add(out, '%'))
                   ? -1
                   : 0;
    if (isfinite(number)) {
        decimal_of(&d, number);
        if (style->percent && !decimal_is_zero(&d))
            d.point += 2;
        decimal_round(&d, style->most);
    }
    if (signbit(number) && bytes_add(out, '-'))
        return -1;
    if (style->currency && bytes_text(out, style->currency))
        return -1;
    if (isfinite(number) ? put_decimal(out, &d, style) : bytes_text(out, "∞"))
        return -1;
    return style->percent ? bytes_add(out, '%') : 0;
}

static JSValue number_to_locale(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    JSValueConst options = argc > 1 ? argv[1] : JS_UNDEFINED;
    JSValue value = js_thisNumberValue(ctx, this_value), text;
    struct number_style style;
    struct bytes out = { 0 };
    char sign[16];
    double number;

    if (JS_IsException(value) || JS_ToFloat64Free(ctx, &number, value) || number_style(&style, options, sign) ||
        fraction_style(&style, options))
        return JS_EXCEPTION;
    text = put_number_text(&out, number, &style) ? JS_EXCEPTION : string_of_bytes(&out);
    bytes_free(&out);
    return text;
}

static int put_bigint_text(struct bytes *out, const struct bytes *digits, const struct number_style *style)
{
    uint32_t start = digits->data[0] == '-';

    if ((start && bytes_add(out, '-')) || (style->currency && bytes_text(out, style->currency)))
        return -1;
    for (uint32_t i = start; i < digits->length; i++) {
        uint32_t left = digits->length - i - 1;

        if (bytes_add(out, digits->data[i]) || (style->groups && left > 0 && left % 3 == 0 && bytes_add(out, ',')))
            return -1;
    }
    if (style->least > 0 && bytes_add(out, '.'))
        return -1;
    for (int i = 0; i < style->least; i++)
        if (bytes_add(out, '0'))
            return -1;
    return style->percent ? bytes_add(out, '%') : 0;
}

/* All of the digits, with the options of numbers. */
static JSValue bigint_to_locale(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv)
{
    JSValueConst options = argc > 1 ? argv[1] : JS_UNDEFINED;
    JSValue value = js_thisBigIntValue(ctx, this_value), text = JS_EXCEPTION;
    struct number_style style;
    struct bytes digits = { 0 }, out = { 0 };
    char sign[16];
    int status = JS_IsException(value) || number_style(&style, options, sign) || fraction_style(&style, options) ||
                 bytes_of_value(&digits, value);

    if (!status && style.percent && !bytes_equal(&digits, "0"))
        status = bytes_text(&digits, "00");
    if (!status && !put_bigint_text(&out, &digits, &style))
        text = string_of_bytes(&out);
    JS_FreeValue(ctx, value);
    bytes_free(&digits);
    bytes_free(&out);
    return text;
}
