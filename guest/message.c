/* Texts of the engine's errors, said so that whoever wrote the program knows how to go on. Included before the engine:
 * what it formats for an error comes through here.
 */

/* Globals that programs for other places use. */
static const struct {
    const char *names; /* each between spaces */
    const char *instead;
} absent_globals[] = {
    { " require module exports __dirname __filename ",
      "there are no packages; call tools.<name>({...}), or import a module that the host provides" },
    { " fs path os child_process http https ", "there are no Node modules; call tools.<name>({...})" },
    { " process ", "there is no process and no environment; call tools.<name>({...})" },
    { " Buffer ", "use Uint8Array with TextEncoder and TextDecoder, or atob and btoa" },
    { " fetch XMLHttpRequest WebSocket EventSource axios ", "there is no network; call tools.<name>({...})" },
    { " window self document navigator location localStorage sessionStorage indexedDB ",
      "this is no browser; globals are on globalThis" },
    { " Deno Bun ", "this is another runtime; call tools.<name>({...})" },
    { " Worker SharedWorker ", "there are no threads; use Promise.all over tools" },
    { " Intl ", "use toFixed, padStart, toISOString and the like" },
    { " print ", "use console.log(...)" },
    { " alert ", "use console.log(...)" },
    { " prompt confirm input ", "a program cannot ask; end with what is known and ask outside of it" },
    { " None ", "write null" },
    { " True ", "write true" },
    { " False ", "write false" },
    { " len ", "use .length or .size" },
    { " str ", "use String(...)" },
    { " range ", "use Array.from({length: n}, (_, i) => i)" },
};

static const char *absent_global(const char *name)
{
    char word[40];
    int length = snprintf(word, sizeof(word), " %s ", name);

    if (length < 0 || length >= (int)sizeof(word))
        return NULL;
    for (size_t i = 0; i < sizeof(absent_globals) / sizeof(absent_globals[0]); i++)
        if (strstr(absent_globals[i].names, word))
            return absent_globals[i].instead;
    return NULL;
}

/* The text for a call of a tool that is not there, if the function that is missing is one. */
static bool missing_tool_message(char *buffer, size_t size);

/* These name what was called or gone through, if that is certain; `otherwise` is said where it has no name. */
static bool callee_message(char *buffer, size_t size);
static bool iterable_message(char *buffer, size_t size, const char *otherwise);

/* What the text of an error is in place of the engine's; false to leave that one. */
static bool better_message(char *buffer, size_t size, const char *format, const char *name)
{
    if (!strcmp(format, "not a function"))
        return missing_tool_message(buffer, size) || callee_message(buffer, size) || iterable_message(buffer, size, NULL);
    if (!strcmp(format, "not a constructor"))
        return callee_message(buffer, size);
    if (!strcmp(format, "value is not iterable"))
        return iterable_message(buffer, size, NULL);
    if (name && (!strcmp(name, "Symbol.iterator") || !strcmp(name, "Symbol.asyncIterator")) &&
        !strncmp(format, "cannot read property '%s' of ", 29))
        return iterable_message(buffer, size, format + 29);
    return false;
}

static int message_text(char *buffer, size_t size, const char *format, va_list arguments)
{
    const char *read = NULL;

    if (!strcmp(format, "%s is not defined")) {
        va_list names;
        const char *name, *instead;

        va_copy(names, arguments);
        name = va_arg(names, const char *);
        va_end(names);
        instead = absent_global(name);
        if (instead)
            return snprintf(buffer, size, "%s is not available here: %s", name, instead);
    }
    if (!strncmp(format, "cannot read property", 20)) {
        va_list names;

        va_copy(names, arguments);
        read = va_arg(names, const char *);
        va_end(names);
    }
    if (better_message(buffer, size, format, read))
        return (int)strlen(buffer);
    return vsnprintf(buffer, size, format, arguments);
}

/* Drops what a buffer that was too short holds of its last character. */
static void drop_partial(char *text)
{
    size_t length = strlen(text), start = length;
    uint8_t first;

    while (start > 0 && ((uint8_t)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0)
        return;
    first = (uint8_t)text[start - 1];
    if (first >= 0xc0 && length - start + 1 < (first >= 0xf0 ? 4u : first >= 0xe0 ? 3u : 2u))
        text[start - 1] = 0;
}

static int format_message(char *buffer, size_t size, const char *format, va_list arguments)
{
    int length = message_text(buffer, size, format, arguments);

    if (length >= 0 && (size_t)length + 1 >= size)
        drop_partial(buffer);
    return length;
}

#define vsnprintf format_message
