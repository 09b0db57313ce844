/* `toLocaleString`, `toLocaleDateString` and `toLocaleTimeString` of dates, whatever locale is named: as in en-US, in UTC.
 * An option that is not known here is an error, as is another time zone.
 */

enum date_part { DATE_ERA, DATE_WEEKDAY, DATE_YEAR, DATE_MONTH, DATE_DAY, DATE_HOUR, DATE_MINUTE, DATE_SECOND, DATE_PARTS };

enum date_want { WANT_DATE = 1, WANT_TIME = 2, WANT_BOTH = WANT_DATE | WANT_TIME };

enum date_form { FORM_NONE, FORM_NUMERIC, FORM_TWO_DIGITS, FORM_LONG, FORM_SHORT, FORM_NARROW };

struct date_style {
    enum date_form forms[DATE_PARTS];
    bool half_day;   /* hours from 1 to 12, with AM or PM */
    bool spelled;    /* ` at ` between date and time */
    const char *zone; /* behind the time; null for none */
};

static const char *const date_options[DATE_PARTS] = { "era", "weekday", "year", "month", "day", "hour", "minute", "second" };

static const char *const month_texts[] = { "January", "February", "March",     "April",   "May",      "June",
                                           "July",    "August",   "September", "October", "November", "December" };

static const char *const weekday_texts[] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                             "Thursday", "Friday", "Saturday" };

enum zone_form { ZONE_NONE, ZONE_SHORT, ZONE_LONG };

static const char *const zone_names[] = { "", "UTC", "Coordinated Universal Time" };

/* ---- options ---- */

static int throw_date_option(const char *value, const char *option)
{
    JS_ThrowRangeError(context, "Value %.*s out of range for Date.prototype.toLocaleString options property %s",
                       text_head(value, 40), value, option);
    return -1;
}

/* The place of an option's text in a list that ends with null; 0 where it is not set. */
static int chosen_option(JSValueConst options, const char *name, const char *const *texts)
{
    const char *text;
    int place = 0;

    if (text_option(options, name, &text))
        return -1;
    if (!text)
        return 0;
    for (int i = 1; texts[i] && !place; i++)
        if (!strcmp(texts[i], text))
            place = i;
    if (!place)
        throw_date_option(text, name);
    JS_FreeCString(context, text);
    return place ? place : -1;
}

static int read_zone(JSValueConst options)
{
    static const char *const known[] = { "UTC", "GMT", "Etc/UTC", "Etc/GMT", "Z" };
    const char *text;
    bool is_known = false;

    if (text_option(options, "timeZone", &text))
        return -1;
    for (uint32_t i = 0; text && i < countof(known); i++)
        is_known = is_known || !strcasecmp(text, known[i]);
    if (text && !is_known)
        JS_ThrowRangeError(context, "Invalid time zone specified: %.*s; only UTC is available here",
                           text_head(text, 40), text);
    is_known = is_known || !text;
    JS_FreeCString(context, text);
    return is_known ? 0 : -1;
}

enum hour_cycle { CYCLE_NONE, CYCLE_H11, CYCLE_H12, CYCLE_H23, CYCLE_H24 };

static int read_hours(struct date_style *style, JSValueConst options)
{
    static const char *const cycles[] = { "", "h11", "h12", "h23", "h24", NULL };
    int cycle = chosen_option(options, "hourCycle", cycles);
    JSValue half;

    if (cycle < 0)
        return -1;
    style->half_day = cycle != CYCLE_H23;
    if (cycle == CYCLE_H11 || cycle == CYCLE_H24)
        return throw_date_option(cycles[cycle], "hourCycle");
    if (!JS_IsObject(options))
        return 0;
    half = JS_GetPropertyStr(context, options, "hour12");
    if (JS_IsException(half))
        return -1;
    if (!JS_IsUndefined(half))
        style->half_day = JS_ToBool(context, half);
    JS_FreeValue(context, half);
    return 0;
}

static int read_parts(struct date_style *style, JSValueConst options)
{
    static const char *const texts[] = { "", "numeric", "2-digit", "long", "short", "narrow", NULL };

    for (int part = DATE_WEEKDAY; part < DATE_PARTS; part++) {
        int form = chosen_option(options, date_options[part], texts);
        bool is_word = form >= FORM_LONG, takes_words = part == DATE_WEEKDAY || part == DATE_MONTH;

        if (form < 0)
            return -1;
        if (form > 0 && ((is_word && !takes_words) || (!is_word && part == DATE_WEEKDAY)))
            return throw_date_option(texts[form], date_options[part]);
        style->forms[part] = (enum date_form)form;
    }
    return 0;
}

enum style_name { STYLE_NONE, STYLE_FULL, STYLE_LONG, STYLE_MEDIUM, STYLE_SHORT };

/* `dateStyle` and `timeStyle`: 1 if one of them is set, 0 if none, or -1 with an exception. */
static int read_styles(struct date_style *style, JSValueConst options)
{
    static const char *const texts[] = { "", "full", "long", "medium", "short", NULL };
    int date = chosen_option(options, "dateStyle", texts), time = date < 0 ? -1 : chosen_option(options, "timeStyle", texts);

    if (time < 0)
        return -1;
    if (date) {
        style->forms[DATE_WEEKDAY] = date == STYLE_FULL ? FORM_LONG : FORM_NONE;
        style->forms[DATE_MONTH] = date == STYLE_SHORT    ? FORM_NUMERIC
                                   : date == STYLE_MEDIUM ? FORM_SHORT
                                                          : FORM_LONG;
        style->forms[DATE_DAY] = FORM_NUMERIC;
        style->forms[DATE_YEAR] = date == STYLE_SHORT ? FORM_TWO_DIGITS : FORM_NUMERIC;
    }
    if (time) {
        style->forms[DATE_HOUR] = FORM_NUMERIC;
        style->forms[DATE_MINUTE] = FORM_TWO_DIGITS;
        style->forms[DATE_SECOND] = time == STYLE_SHORT ? FORM_NONE : FORM_TWO_DIGITS;
        style->zone = time == STYLE_FULL ? zone_names[ZONE_LONG] : time == STYLE_LONG ? zone_names[ZONE_SHORT] : NULL;
    }
    style->spelled = date == STYLE_FULL || date == STYLE_LONG;
    return date || time;
}

static int read_zone_name(struct date_style *style, JSValueConst options)
{
    static const char *const texts[] = { "", "short", "long", NULL };
    int form = chosen_option(options, "timeZoneName", texts);

    if (form > ZONE_NONE)
        style->zone = zone_names[form];
    return form < 0 ? -1 : 0;
}

static bool has_parts(const struct date_style *style, int from, int to)
{
    for (int part = from; part <= to; part++)
        if (style->forms[part])
            return true;
    return false;
}

/* The parts that are asked for where none is named. */
static void default_parts(struct date_style *style, enum date_want want)
{
    bool date = has_parts(style, DATE_WEEKDAY, DATE_DAY), time = has_parts(style, DATE_HOUR, DATE_SECOND);

    if (((want & WANT_DATE) && date) || ((want & WANT_TIME) && time))
        return;
    for (int part = DATE_YEAR; (want & WANT_DATE) && part <= DATE_DAY; part++)
        style->forms[part] = FORM_NUMERIC;
    for (int part = DATE_HOUR; (want & WANT_TIME) && part <= DATE_SECOND; part++)
        style->forms[part] = FORM_NUMERIC;
}

static int date_style(struct date_style *style, JSValueConst options, enum date_want want)
{
    static const char *const unknown[] = { "calendar", "numberingSystem", "dayPeriod", "fractionalSecondDigits",
                                           "era" };
    int status;

    memset(style, 0, sizeof(*style));
    if (refuse_options(options, unknown, countof(unknown)) || read_zone(options) || read_hours(style, options))
        return -1;
    status = read_styles(style, options);
    if (status)
        return status < 0 ? -1 : 0;
    if (read_parts(style, options) || read_zone_name(style, options))
        return -1;
    default_parts(style, want);
    style->spelled = style->forms[DATE_MONTH] == FORM_LONG;
    return 0;
}

/* ---- text ---- */

static int put_form(struct bytes *out, int number, enum date_form form)
{
    char text[16];

    if (form == FORM_TWO_DIGITS)
        snprintf(text, sizeof(text), "%02d", abs(number) % 100);
    else
        snprintf(text, sizeof(text), "%d", number);
    return bytes_text(out, text);
}

static int put_word(struct bytes *out, const char *word, enum date_form form)
{
    uint32_t length = form == FORM_SHORT ? 3 : form == FORM_NARROW ? 1 : (uint32_t)strlen(word);

    return bytes_put(out, word, length);
}

/* 1/2/2018, 1/2, 1/2018, 2. */
static int put_numeric_date(struct bytes *out, const struct date_style *style, const double *fields)
{
    static const int order[] = { DATE_MONTH, DATE_DAY, DATE_YEAR };
    const int numbers[] = { (int)fields[1] + 1, (int)fields[2], (int)fields[0] };
    bool any = false;

    for (int i = 0; i < 3; i++) {
        if (!style->forms[order[i]])
            continue;
        if ((any && bytes_add(out, '/')) || put_form(out, numbers[i], style->forms[order[i]]))
            return -1;
        any = true;
    }
    return 0;
}

/* January 2, 2018; January 2018; January 2; January. */
static int put_worded_date(struct bytes *out, const struct date_style *style, const double *fields)
{
    bool day = style->forms[DATE_DAY];

    if (put_word(out, month_texts[(int)fields[1]], style->forms[DATE_MONTH]))
        return -1;
    if (day && (bytes_add(out, ' ') || put_form(out, (int)fields[2], style->forms[DATE_DAY])))
        return -1;
    if (!style->forms[DATE_YEAR])
        return 0;
    return bytes_text(out, day ? ", " : " ") || put_form(out, (int)fields[0], style->forms[DATE_YEAR]) ? -1 : 0;
}

static int put_date(struct bytes *out, const struct date_style *style, const double *fields)
{
    bool rest = has_parts(style, DATE_YEAR, DATE_DAY);
    bool only_day = rest && !style->forms[DATE_YEAR] && !style->forms[DATE_MONTH];
    enum date_form weekday = style->forms[DATE_WEEKDAY];

    if (weekday && only_day) /* 2 Tuesday */
        return put_form(out, (int)fields[2], style->forms[DATE_DAY]) || bytes_add(out, ' ') ||
                       put_word(out, weekday_texts[(int)fields[7]], weekday)
                   ? -1
                   : 0;
    if (weekday && put_word(out, weekday_texts[(int)fields[7]], weekday))
        return -1;
    if (weekday && rest && bytes_text(out, ", "))
        return -1;
    if (style->forms[DATE_MONTH] >= FORM_LONG)
        return put_worded_date(out, style, fields);
    return put_numeric_date(out, style, fields);
}

static int put_time(struct bytes *out, const struct date_style *style, const double *fields)
{
    int hour = (int)fields[3];
    bool hours = style->forms[DATE_HOUR], any = false;

    if (hours && style->half_day)
        any = put_form(out, (hour + 11) % 12 + 1, style->forms[DATE_HOUR]) == 0;
    else if (hours)
        any = put_form(out, hour, FORM_TWO_DIGITS) == 0;
    if (hours && !any)
        return -1;
    for (int part = DATE_MINUTE; part <= DATE_SECOND; part++) {
        bool alone = !any && !(part == DATE_MINUTE && style->forms[DATE_SECOND]);

        if (!style->forms[part])
            continue;
        if ((any && bytes_add(out, ':')) ||
            put_form(out, (int)fields[part == DATE_MINUTE ? 4 : 5], alone ? FORM_NUMERIC : FORM_TWO_DIGITS))
            return -1;
        any = true;
    }
    if (hours && style->half_day && bytes_text(out, hour < 12 ? " AM" : " PM"))
        return -1;
    return style->zone ? bytes_add(out, ' ') || bytes_text(out, style->zone) : 0;
}

static int put_date_and_time(struct bytes *out, const struct date_style *style, const double *fields)
{
    bool date = has_parts(style, DATE_WEEKDAY, DATE_DAY), time = has_parts(style, DATE_HOUR, DATE_SECOND);

    if (date && put_date(out, style, fields))
        return -1;
    if (date && !time && style->zone)
        return bytes_text(out, ", ") || bytes_text(out, style->zone) ? -1 : 0;
    if (date && time && bytes_text(out, style->spelled ? " at " : ", "))
        return -1;
    return time ? put_time(out, style, fields) : 0;
}

static JSValue date_to_locale(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int want)
{
    struct date_style style;
    struct bytes out = { 0 };
    double fields[9];
    JSValue text;
    int valid = get_date_fields(ctx, this_value, fields, false, 0);

    if (valid < 0 || date_style(&style, argc > 1 ? argv[1] : JS_UNDEFINED, (enum date_want)want))
        return JS_EXCEPTION;
    if (!valid)
        return JS_NewString(ctx, "Invalid Date");
    text = put_date_and_time(&out, &style, fields) ? JS_EXCEPTION : string_of_bytes(&out);
    bytes_free(&out);
    return text;
}

/* ---- in place of the engine's ---- */

static int replace_method(JSClassID id, const char *name, JSCFunction *function)
{
    return define_hidden(context->class_proto[id], name, JS_NewCFunction(context, function, name, 0));
}

static int replace_date_method(const char *name, enum date_want want)
{
    return define_hidden(context->class_proto[JS_CLASS_DATE], name,
                         JS_NewCFunctionMagic(context, date_to_locale, name, 0, JS_CFUNC_generic_magic, want));
}

static int locale_init(void)
{
    return ranks_init() ||
                   define_hidden(context->class_proto[JS_CLASS_STRING], "localeCompare",
                                 JS_NewCFunction(context, locale_compare, "localeCompare", 1)) ||
                   replace_method(JS_CLASS_NUMBER, "toLocaleString", number_to_locale) ||
                   replace_method(JS_CLASS_BIG_INT, "toLocaleString", bigint_to_locale) ||
                   replace_date_method("toLocaleDateString", WANT_DATE) ||
                   replace_date_method("toLocaleTimeString", WANT_TIME) ||
                   replace_date_method("toLocaleString", WANT_BOTH)
               ? -1
               : 0;
}
