/* Into QuickJS's matcher of regular expressions (see `build/interpreter.rs` for how). A search is compiled as if each pattern began
 * with `[^]*?`: at each place of the text, four instructions find out that the pattern does not match there. Where it can
 * only begin with one character, one range of them or the text's start, the places are looked through at once.
 */
#define SEARCH_LENGTH 10 /* from the split's operand to the pattern */
/* Bytes that are looked through at once. Where nothing begins, the instructions themselves then fail, look whether the program is
 * to stop, and search on.
 */
#define SEARCH_MAX 1024

static __attribute__((noinline)) const uint8_t *search(const REExecContext *s, const uint8_t *pattern, const uint8_t *at)
{
    const uint8_t *end = s->cbuf_end;
    uint32_t low, high;

    while (*pattern == REOP_save_start)
        pattern += 2;
    if (*pattern == REOP_line_start)
        return at == s->cbuf ? at : end;
    if (end - at > SEARCH_MAX)
        end = at + SEARCH_MAX;
    if (*pattern == REOP_char)
        low = high = get_u16(pattern + 1);
    else if (*pattern == REOP_range && get_u16(pattern + 1) == 1)
        low = get_u16(pattern + 3), high = get_u16(pattern + 5);
    else
        return at;
    if (s->cbuf_type) {
        while (at < end && *(const uint16_t *)at - low > high - low)
            at += 2;
    } else {
        while (at < end && *at - low > high - low)
            at++;
    }
    return at;
}

/* Where text is read by code point, half of one is not a place. */
#define SEARCH                                                                                                         \
    if (get_u32(pc) == 6 && pc[4] == REOP_any && pc[5] == REOP_goto && get_u32(pc + 6) == (uint32_t)-11 &&             \
        cbuf_type != 2)                                                                                                \
        cptr = search(s, pc + SEARCH_LENGTH, cptr);

/* Characters one after the other, in text of one byte a character. */
#define CHARACTERS                                                                                                     \
    if (!cbuf_type) {                                                                                                  \
        for (;;) {                                                                                                     \
            if (cptr >= cbuf_end || *cptr != get_u16(pc))                                                              \
                goto no_match;                                                                                         \
            cptr++;                                                                                                    \
            pc += 2;                                                                                                   \
            if (*pc != REOP_char)                                                                                      \
                break;                                                                                                 \
            pc++;                                                                                                      \
        }                                                                                                              \
        continue;                                                                                                      \
    }
