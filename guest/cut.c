/* The beginnings of texts that may be long: cut between characters, and not read any further. */

/* How many bytes of a text in UTF-8 are shown where there is room for `most` of them; for `%.*s`. */
static int text_head(const char *text, size_t most)
{
    size_t length = strnlen(text, most + 1);

    if (length > most)
        for (length = most; length > 0 && ((uint8_t)text[length] & 0xc0) == 0x80;)
            length--;
    return (int)length;
}

/* The code point of a string at `*at`, which moves behind it; U+FFFD for a lone surrogate. */
static uint32_t string_next(JSValueConst string, uint32_t length, uint32_t *at)
{
    uint32_t first = (uint32_t)string_rope_get(string, (*at)++), second;

    if (is_hi_surrogate(first) && *at < length) {
        second = (uint32_t)string_rope_get(string, *at);
        if (is_lo_surrogate(second)) {
            (*at)++;
            return from_surrogate(first, second);
        }
    }
    return is_surrogate(first) ? 0xfffd : first;
}

/* Writes as much of a string as fits, with a zero behind it. */
static void string_head(char *out, size_t size, JSValueConst string)
{
    uint32_t length = string_rope_get_len(string), at = 0;
    size_t used = 0;

    while (at < length) {
        uint8_t encoded[UTF8_CHAR_LEN_MAX];
        size_t count = utf8_encode(encoded, string_next(string, length, &at));

        if (used + count >= size)
            break;
        memcpy(out + used, encoded, count);
        used += count;
    }
    out[used] = 0;
}
