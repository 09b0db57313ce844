/* What characters weigh when texts are put in order: base letters first, then accents, then capitals, as in the Unicode
 * collation algorithm. What is in no table here comes by code point, symbols before letters.
 */

#define CAPITAL 8     /* in a tertiary weight, after the variants that come before capitals */
#define COMPATIBLE 16 /* another form of the same character: superscript, ligature, circled */
#define PLAIN 32      /* so that no tertiary weight is zero */

#define FIRST_SYMBOL 0x1000
#define EARLY_SYMBOLS 0x2000 /* arrows and a part of the mathematical ones */
#define LATER_SYMBOLS 0x8000
#define OTHER_SYMBOLS 0x10000
#define FIRST_CURRENCY 0x200000
#define FIRST_NUMBER 0x2f0000 /* length times ten and the first digit; before digits that are in no number */
#define FIRST_DIGIT 0x300000
#define FIRST_LETTER 0x400000
#define OTHER_LETTERS 0x500000

/* Digits that are compared as one number. */
#define NUMBER_DIGITS 254

static const struct {
    uint32_t first;
    const char *characters; /* in lower case */
} collation_order[] = {
    { 1, "\t\n\v\f\r\xc2\x85\u2028\u2029 ‾_‗-‐‒–—―⁓,、;⁏:!¡?¿‽.。·'‹›\"«»()[]{}⁅⁆〈〉《》「」『』【】‖§¶⁋@*⁎⁑/\\&⁊#%‰‱†‡•‣‧⁃"
         "′‵〃‸※‿⁔⁀⁐⁁⁂" },
    { FIRST_SYMBOL, "`´^¯¨¸°©®" },
    { LATER_SYMBOLS, "+±÷×<=>¬|¦~⁒⁄" },
    { FIRST_CURRENCY, "¤¢$£¥₠₡₢₣₤₥₦₩₪₫€₭₮₯₰₱₲₳₴₵₶₷₸₹₺₻₼₽₾₿" },
    { FIRST_DIGIT, "0123456789" },
    { FIRST_LETTER, "abcdeǝəɛfƒghiıjklmnŋoɔpqĸrstŧuvwxyzʒþʼ"
                    "αβγδεζηθικλμνξοπρστυφχψω"
                    "абвгдђеєжзѕиійјклљмнњопрстћуфхцчџшщъыьѣэюя" },
};

/* Letters that count as others with an accent; a mark of no language stands for a stroke or a ligature. */
static const struct {
    uint16_t letter;
    uint16_t parts[3];
} collation_parts[] = {
    { 0xdf, { 's', 0x361, 's' } }, { 0xe6, { 'a', 0x361, 'e' } }, { 0xf0, { 'd', 0x361 } },     { 0xf8, { 'o', 0x338 } },
    { 0x111, { 'd', 0x335 } },     { 0x127, { 'h', 0x335 } },     { 0x140, { 'l', 0x361 } },    { 0x142, { 'l', 0x335 } },
    { 0x153, { 'o', 0x361, 'e' } }, { 0x17f, { 's', 0x361 } },    { 0x491, { 0x433, 0x361 } },  { 0x2018, { '\'', 0x335 } },
    { 0x2019, { '\'', 0x338 } },   { 0x201a, { '\'', 0x360 } },   { 0x201b, { '\'', 0x361 } },  { 0x201c, { '"', 0x335 } },
    { 0x201d, { '"', 0x338 } },    { 0x201e, { '"', 0x360 } },    { 0x201f, { '"', 0x361 } },
};

/* Accents by weight; the others follow by code point. */
static const uint16_t collation_marks[] = { 0x313, 0x314, 0x301, 0x300, 0x306, 0x302, 0x30c, 0x30a, 0x342, 0x308,
                                            0x30b, 0x303, 0x307, 0x338, 0x327, 0x328, 0x304 };

#define FIRST_MARK 2 /* a base has 1 */
#define OTHER_MARKS 64

struct rank {
    uint32_t code;
    uint32_t primary;
};

#define RANK_MAX 320

/* Of all characters in `collation_order`, by code point; made once. */
static struct {
    struct rank list[RANK_MAX];
    uint32_t count;
    uint32_t last_punctuation;
    uint32_t ascii[128]; /* zero for control characters that are ignored */
} ranks;

struct weight {
    uint32_t primary;   /* zero: ignored at this level */
    uint16_t secondary;
    uint8_t tertiary;
};

struct weights {
    struct weight *list;
    uint32_t count;
    uint32_t capacity;
    bool after_ignored; /* the marks that follow belong to ignored punctuation */
};

enum sensitivity { SENSITIVITY_BASE, SENSITIVITY_ACCENT, SENSITIVITY_CASE, SENSITIVITY_VARIANT };

struct collation {
    enum sensitivity sensitivity;
    bool numeric;
    bool capitals_first;
    bool no_punctuation;
};

/* ---- tables ---- */

static int rank_order(const void *a, const void *b)
{
    uint32_t x = ((const struct rank *)a)->code, y = ((const struct rank *)b)->code;

    return x < y ? -1 : x > y;
}

static uint32_t rank_of(uint32_t code)
{
    const struct rank wanted = { .code = code };
    const struct rank *found = bsearch(&wanted, ranks.list, ranks.count, sizeof(wanted), rank_order);

    return found ? found->primary : 0;
}

static int ranks_init(void)
{
    for (uint32_t i = 0; i < countof(collation_order); i++) {
        const uint8_t *at = (const uint8_t *)collation_order[i].characters, *end = at + strlen((const char *)at);

        for (uint32_t primary = collation_order[i].first; at < end; primary++) {
            if (ranks.count == RANK_MAX)
                return -1;
            if (i == 0)
                ranks.last_punctuation = primary;
            ranks.list[ranks.count++] = (struct rank){ next_code_point(&at, end), primary };
        }
    }
    qsort(ranks.list, ranks.count, sizeof(ranks.list[0]), rank_order);
    for (uint32_t code = 0; code < countof(ranks.ascii); code++)
        ranks.ascii[code] = rank_of(code >= 'A' && code <= 'Z' ? code + 32 : code);
    return 0;
}

/* ---- weights of characters ---- */

static bool in_ranges(uint32_t code, const uint32_t (*ranges)[2], uint32_t count)
{
    for (uint32_t i = 0; i < count && code >= ranges[i][0]; i++)
        if (code <= ranges[i][1])
            return true;
    return false;
}

/* Controls, marks of direction, joiners, selectors of a variant. */
static bool has_no_weight(uint32_t code)
{
    static const uint32_t ranges[][2] = { { 0, 8 },           { 0xe, 0x1f },        { 0x7f, 0x84 },      { 0x86, 0x9f },
                                          { 0xad, 0xad },     { 0x34f, 0x34f },     { 0x61c, 0x61c },    { 0x180b, 0x180e },
                                          { 0x200b, 0x200f }, { 0x202a, 0x202e },   { 0x2060, 0x2064 },  { 0x2066, 0x206f },
                                          { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },  { 0xe0001, 0xe01ef } };

    return in_ranges(code, ranges, countof(ranges));
}

static bool is_mark(uint32_t code)
{
    static const uint32_t ranges[][2] = { { 0x300, 0x362 },   { 0x483, 0x489 },   { 0x591, 0x5bd },   { 0x5bf, 0x5bf },
                                          { 0x5c1, 0x5c2 },   { 0x5c4, 0x5c5 },   { 0x5c7, 0x5c7 },   { 0x610, 0x61a },
                                          { 0x64b, 0x65f },   { 0x670, 0x670 },   { 0x6d6, 0x6dc },   { 0x6df, 0x6e4 },
                                          { 0x6e7, 0x6e8 },   { 0x6ea, 0x6ed },   { 0x93c, 0x93c },   { 0x1ab0, 0x1aff },
                                          { 0x1dc0, 0x1dff }, { 0x20d0, 0x20f0 }, { 0x302a, 0x302f }, { 0x3099, 0x309a },
                                          { 0xfe20, 0xfe2f } };

    return in_ranges(code, ranges, countof(ranges));
}

static uint16_t mark_weight(uint32_t code)
{
    for (uint32_t i = 0; i < countof(collation_marks); i++)
        if (collation_marks[i] == code)
            return (uint16_t)(FIRST_MARK + i);
    return (uint16_t)(OTHER_MARKS + (code & 0x3fff));
}

/* What may be another form of other characters. */
static bool may_be_compatible(uint32_t code)
{
    static const uint32_t ranges[][2] = { { 0xa0, 0x3ff },     { 0x587, 0x587 },     { 0x675, 0x678 },     { 0xe33, 0xe33 },
                                          { 0xeb3, 0xeb3 },    { 0x1d2c, 0x1dbf },   { 0x1e00, 0x2dff },   { 0x3000, 0x33ff },
                                          { 0xf900, 0xffef },  { 0x1d400, 0x1eeff }, { 0x1f100, 0x1f2ff } };

    return in_ranges(code, ranges, countof(ranges));
}

static int weights_put(struct weights *w, uint32_t primary, uint16_t secondary, uint8_t tertiary)
{
    if (w->count == w->capacity) {
        uint32_t capacity = w->capacity ? w->capacity * 2 : 32;
        struct weight *moved = js_realloc(context, w->list, (size_t)capacity * sizeof(*moved));

        if (!moved)
            return -1;
        w->list = moved;
        w->capacity = capacity;
    }
    w->list[w->count++] = (struct weight){ primary, secondary, tertiary };
    return 0;
}

/* Digits of other scripts: their value, or -1. */
static int other_digit(uint32_t code)
{
    static const uint16_t zeros[] = { 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6,  0xa66,  0xae6, 0xb66, 0xbe6,
                                      0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040, 0x17e0, 0x1810 };

    for (uint32_t i = 0; i < countof(zeros); i++)
        if (code >= zeros[i] && code <= zeros[i] + 9u)
            return (int)(code - zeros[i]);
    return -1;
}

/* Hiragana and katakana are one letter; small ones come first. */
static uint32_t kana_base(uint32_t code, uint8_t *form)
{
    static const uint16_t small[] = { 0x3041, 0x3043, 0x3045, 0x3047, 0x3049, 0x3063, 0x3083, 0x3085, 0x3087, 0x308e };
    bool katakana = code >= 0x30a1 && code <= 0x30f6;

    if (katakana)
        code -= 0x60;
    *form = katakana ? 4 : 2;
    for (uint32_t i = 0; i < countof(small); i++)
        if (small[i] == code) {
            *form -= 1;
            return code + 1;
        }
    return code;
}

/* A character that no table has. */
static int weights_unknown(struct weights *w, uint32_t code, uint8_t tertiary)
{
    int digit = other_digit(code);
    uint8_t form = 0;

    if (digit >= 0)
        return weights_put(w, FIRST_DIGIT + (uint32_t)digit, 1, tertiary | 1);
    if ((code >= 0x3041 && code <= 0x3096) || (code >= 0x30a1 && code <= 0x30f6))
        code = kana_base(code, &form);
    if (lre_is_id_continue(code))
        return weights_put(w, OTHER_LETTERS + code, 1, tertiary | form);
    if (code >= 0x2190 && code <= 0x220f)
        return weights_put(w, EARLY_SYMBOLS + code, 1, tertiary);
    return weights_put(w, OTHER_SYMBOLS + code, 1, tertiary);
}

/* A character with no form but itself: 1 where it has been added, 0 where it is not known, -1 without memory. */
static int weights_known(struct weights *w, uint32_t code, uint8_t tertiary, const struct collation *options)
{
    uint32_t primary = rank_of(code);

    if (primary && options->no_punctuation && primary <= ranks.last_punctuation) {
        w->after_ignored = true;
        return 1;
    }
    if (has_no_weight(code))
        return 1;
    if (is_mark(code))
        return !w->after_ignored && weights_put(w, 0, mark_weight(code), tertiary) ? -1 : 1;
    w->after_ignored = false;
    if (primary)
        return weights_put(w, primary, 1, tertiary) ? -1 : 1;
    for (uint32_t i = 0; i < countof(collation_parts); i++) {
        if (collation_parts[i].letter != code)
            continue;
        for (uint32_t j = 0; j < countof(collation_parts[i].parts) && collation_parts[i].parts[j]; j++)
            if (weights_known(w, collation_parts[i].parts[j], tertiary, options) < 0)
                return -1;
        return 1;
    }
    return 0;
}

static uint32_t lower_of(uint32_t code)
{
    uint32_t lower[LRE_CC_RES_LEN_MAX];

    return lre_case_conv(lower, code, 1) == 1 ? lower[0] : code;
}

/* The form of a letter in the middle of a word, for those that have another at its end. */
static uint32_t middle_of(uint32_t code)
{
    static const uint16_t finals[] = { 0x3c2, 0x5da, 0x5dd, 0x5df, 0x5e3, 0x5e5 };

    for (uint32_t i = 0; i < countof(finals); i++)
        if (finals[i] == code)
            return code + 1;
    return code;
}

static int weights_folded(struct weights *w, uint32_t code, uint8_t tertiary, const struct collation *options)
{
    uint32_t lower = lower_of(code), middle = middle_of(lower);
    int known;

    if (lower != code)
        tertiary |= CAPITAL;
    if (middle != lower)
        tertiary |= COMPATIBLE;
    known = weights_known(w, middle, tertiary, options);
    return known ? known : weights_unknown(w, middle, tertiary) ? -1 : 1;
}

static int weights_add(struct weights *w, uint32_t code, const struct collation *options)
{
    uint32_t *forms;
    int count, status = 1;

    if (!may_be_compatible(code) || rank_of(lower_of(code)))
        return weights_folded(w, code, PLAIN, options);
    status = weights_known(w, lower_of(code), lower_of(code) != code ? PLAIN | CAPITAL : PLAIN, options);
    if (status)
        return status;
    count = unicode_normalize(&forms, &code, 1, UNICODE_NFKD, context, (DynBufReallocFunc *)js_realloc);
    if (count < 0)
        return -1;
    status = 1;
    for (int i = 0; i < count && status > 0; i++)
        status = weights_folded(w, forms[i],
                                forms[i] == code                     ? PLAIN
                                : code >= 0xff00 && code <= 0xffef ? PLAIN | 1
                                                                     : PLAIN | COMPATIBLE,
                                options);
    js_free(context, forms);
    return status;
}

/* ---- weights of texts ---- */

static bool is_plain_digit(const struct weight *weight)
{
    return weight->primary >= FIRST_DIGIT && weight->primary < FIRST_DIGIT + 10 && !(weight->tertiary & COMPATIBLE);
}

/* Makes each run of digits a number: its length, which counts first, is joined to its first digit. */
static void weights_to_numbers(struct weights *w)
{
    uint32_t out = 0, i = 0;

    while (i < w->count) {
        uint32_t end = i, first;

        while (end < w->count && end - i < NUMBER_DIGITS && is_plain_digit(&w->list[end]))
            end++;
        if (end == i) {
            w->list[out++] = w->list[i++];
            continue;
        }
        while (i + 1 < end && w->list[i].primary == FIRST_DIGIT)
            i++;
        first = out;
        while (i < end)
            w->list[out++] = w->list[i++];
        w->list[first].primary = FIRST_NUMBER + (out - first) * 10 + (w->list[first].primary - FIRST_DIGIT);
    }
    w->count = out;
}

/* Code points that are decomposed at once, and the most where marks follow: to put a run of marks in order takes quadratic
 * time, so that of a longer one only the pieces are in order.
 */
#define PIECE 128
#define PIECE_MAX 256

/* The length of the next piece of a text, which ends before a character where it can. */
static int piece_length(const uint32_t *text, int length)
{
    int end = length < PIECE ? length : PIECE;

    while (end < length && end < PIECE_MAX && is_mark(text[end]))
        end++;
    return end;
}

static int weights_of_piece(struct weights *w, const uint32_t *piece, int length, const struct collation *options)
{
    uint32_t *parts;
    int count = unicode_normalize(&parts, piece, length, UNICODE_NFD, context, (DynBufReallocFunc *)js_realloc);
    int status = 1;

    if (count < 0)
        return -1;
    for (int i = 0; i < count && status >= 0; i++) {
        uint32_t code = parts[i];

        /* The Cyrillic short i is a letter of its own. */
        if (i + 1 < count && parts[i + 1] == 0x306 && (code | 0x20) == 0x438)
            code = parts[i++] == 0x438 ? 0x439 : 0x419;
        status = weights_add(w, code, options);
    }
    js_free(context, parts);
    return status < 0 || js_poll_interrupts(context) ? -1 : 0;
}

static int weights_of(struct weights *w, JSString *text, const struct collation *options)
{
    uint32_t *plain;
    int length = to_utf32_buf(context, text, &plain), start = 0, status = 0;

    if (length < 0)
        return -1;
    while (!status && start < length) {
        int piece = piece_length(plain + start, length - start);

        status = weights_of_piece(w, plain + start, piece, options);
        start += piece;
    }
    js_free(context, plain);
    if (status)
        return -1;
    if (options->numeric)
        weights_to_numbers(w);
    return 0;
}
