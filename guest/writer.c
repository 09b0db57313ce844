/* The bytes of a value that is being encoded: where they go, what is left of the budget, and which objects were met.
 * encode.c walks the values.
 */

static JSClassID tools_class; /* of namespaces of tools */

enum encode_mode { ENCODE_STRICT, ENCODE_SHOW, ENCODE_CLIP };

struct bytes {
    uint8_t *data;
    uint32_t length;
    uint32_t capacity;
};

struct path_step {
    const struct path_step *parent;
    JSAtom atom;    /* JS_ATOM_NULL for an index */
    uint32_t index;
};

struct encoder {
    struct bytes out;
    enum encode_mode mode;
    uint32_t max_bytes;
    uint32_t nodes_left;
    bool too_large;
    bool too_deep;       /* and that is why */
    bool cut;            /* a text did not fit and was shortened */
    JSObject **seen;     /* in order of appearance; each held, since a getter might free it */
    uint32_t seen_count;
    uint32_t seen_capacity;
    uint32_t *slots;     /* open addressing over `seen`, index + 1, used above SEEN_LINEAR */
    uint32_t slot_count;
};

#define SEEN_LINEAR 8
#define CLIP_ELEMENTS 1000

static int bytes_reserve(struct bytes *b, uint32_t more)
{
    uint32_t capacity = b->capacity ? b->capacity : 128;
    uint8_t *moved;

    if (b->capacity - b->length >= more)
        return 0;
    while (capacity - b->length < more)
        capacity *= 2;
    moved = js_realloc(context, b->data, capacity);
    if (!moved)
        return -1;
    b->data = moved;
    b->capacity = capacity;
    return 0;
}

static int put_bytes(struct encoder *e, const void *data, uint32_t length)
{
    if (length > e->max_bytes || e->out.length > e->max_bytes - length) {
        e->too_large = true;
        return -1;
    }
    if (bytes_reserve(&e->out, length))
        return -1;
    memcpy(e->out.data + e->out.length, data, length);
    e->out.length += length;
    return 0;
}

/* No values are left in the budget; told from too many bytes by what is left of it. */
static int too_many_values(struct encoder *e)
{
    e->nodes_left = 0;
    e->too_large = true;
    return -1;
}

static int put_byte(struct encoder *e, uint8_t byte)
{
    return put_bytes(e, &byte, 1);
}

static int put_varint(struct encoder *e, uint32_t value)
{
    uint8_t buffer[5];
    uint32_t length = 0;

    while (value >= 0x80) {
        buffer[length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    buffer[length++] = (uint8_t)value;
    return put_bytes(e, buffer, length);
}

static int put_text(struct encoder *e, const char *text, size_t length)
{
    return put_varint(e, (uint32_t)length) || put_bytes(e, text, (uint32_t)length) ? -1 : 0;
}

static int put_tagged_text(struct encoder *e, uint8_t tag, const char *text)
{
    return put_byte(e, tag) || put_text(e, text, strlen(text)) ? -1 : 0;
}

/* A lone surrogate comes out of QuickJS as three bytes ED A0..BF xx; U+FFFD has three bytes as well. */
static void replace_surrogates(uint8_t *text, uint32_t length)
{
    for (uint32_t i = 0; i + 2 < length; i++) {
        if (text[i] == 0xed && text[i + 1] >= 0xa0) {
            text[i] = 0xef;
            text[i + 1] = 0xbf;
            text[i + 2] = 0xbd;
        }
    }
}

/* Cuts a text to the bytes left, never inside a character. */
static size_t clipped(struct encoder *e, const char *text, size_t length)
{
    size_t left = e->max_bytes > e->out.length + 64 ? e->max_bytes - e->out.length - 64 : 0;

    if (e->mode != ENCODE_CLIP || length <= left)
        return length;
    e->cut = true;
    while (left > 0 && ((uint8_t)text[left] & 0xc0) == 0x80)
        left--;
    return left;
}

static int put_js_string(struct encoder *e, JSValueConst value)
{
    size_t length, kept;
    const char *text = JS_ToCStringLen(context, &length, value);
    uint32_t start;
    int failed;

    if (!text)
        return -1;
    kept = clipped(e, text, length);
    failed = put_varint(e, (uint32_t)kept);
    start = e->out.length;
    failed = failed || put_bytes(e, text, (uint32_t)kept);
    JS_FreeCString(context, text);
    if (failed)
        return -1;
    replace_surrogates(e->out.data + start, (uint32_t)kept);
    return 0;
}

static int put_atom(struct encoder *e, JSAtom atom)
{
    JSValue text = JS_AtomToString(context, atom);
    int failed = JS_IsException(text) || put_js_string(e, text);

    JS_FreeValue(context, text);
    return failed ? -1 : 0;
}

static int put_number(struct encoder *e, uint8_t tag, double number)
{
    uint64_t bits;

    if (number != number)
        bits = 0x7ff8000000000000u;
    else
        memcpy(&bits, &number, sizeof(bits));
    return put_byte(e, tag) || put_bytes(e, &bits, sizeof(bits)) ? -1 : 0;
}

static int encode_number(struct encoder *e, double number)
{
    int32_t integer;

    if (number >= INT32_MIN && number <= INT32_MAX && number == (integer = (int32_t)number) &&
        !(integer == 0 && signbit(number)))
        return put_byte(e, TAG_INT) || put_varint(e, ((uint32_t)integer << 1) ^ (uint32_t)(integer >> 31)) ? -1 : 0;
    return put_number(e, TAG_NUMBER, number);
}

static int encode_bigint(struct encoder *e, JSValueConst value)
{
    JSValue text = js_bigint_to_string1(context, value, 16);
    size_t length;
    const char *digits;
    bool negative;
    int failed;

    if (JS_IsException(text))
        return -1;
    digits = JS_ToCStringLen(context, &length, text);
    JS_FreeValue(context, text);
    if (!digits)
        return -1;
    negative = digits[0] == '-';
    failed = put_byte(e, TAG_BIGINT) || put_byte(e, negative) || put_text(e, digits + negative, length - negative);
    JS_FreeCString(context, digits);
    return failed ? -1 : 0;
}

/* ---- objects met before, for shared references and cycles ---- */

static uint32_t slot_of(const struct encoder *e, const JSObject *object)
{
    uint32_t slot = ((uint32_t)(uintptr_t)object >> 3) * 2654435761u & (e->slot_count - 1);

    while (e->slots[slot] && e->seen[e->slots[slot] - 1] != object)
        slot = (slot + 1) & (e->slot_count - 1);
    return slot;
}

static int slots_grow(struct encoder *e)
{
    uint32_t count = 64;

    while (count < e->seen_count * 4)
        count *= 2;
    js_free(context, e->slots);
    e->slots = js_calloc(context, count, sizeof(uint32_t));
    e->slot_count = e->slots ? count : 0;
    if (!e->slots)
        return -1;
    for (uint32_t i = 0; i < e->seen_count; i++)
        e->slots[slot_of(e, e->seen[i])] = i + 1;
    return 0;
}

/* The number of an object met before, or -1. */
static int64_t seen_find(const struct encoder *e, const JSObject *object)
{
    if (e->slot_count) {
        uint32_t at = e->slots[slot_of(e, object)];
        return at ? (int64_t)at - 1 : -1;
    }
    for (uint32_t i = 0; i < e->seen_count; i++)
        if (e->seen[i] == object)
            return i;
    return -1;
}

static int seen_add(struct encoder *e, JSObject *object)
{
    if (e->seen_count == e->seen_capacity) {
        uint32_t capacity = e->seen_capacity ? e->seen_capacity * 2 : SEEN_LINEAR;
        JSObject **moved = js_realloc(context, e->seen, capacity * sizeof(*moved));
        if (!moved)
            return -1;
        e->seen = moved;
        e->seen_capacity = capacity;
    }
    e->seen[e->seen_count++] = JS_VALUE_GET_OBJ(js_dup(JS_MKPTR(JS_TAG_OBJECT, object)));
    if (e->seen_count > SEEN_LINEAR) {
        if (e->seen_count * 2 > e->slot_count)
            return slots_grow(e);
        e->slots[slot_of(e, object)] = e->seen_count;
    }
    return 0;
}

/* Forgets the objects met since there were `count`: what they were written into was taken back. */
static void seen_truncate(struct encoder *e, uint32_t count)
{
    while (e->seen_count > count)
        JS_FreeValue(context, JS_MKPTR(JS_TAG_OBJECT, e->seen[--e->seen_count]));
    js_free(context, e->slots);
    e->slots = NULL;
    e->slot_count = 0;
    if (count > SEEN_LINEAR && slots_grow(e))
        e->too_large = true;
}

static void encoder_free(struct encoder *e)
{
    for (uint32_t i = 0; i < e->seen_count; i++)
        JS_FreeValue(context, JS_MKPTR(JS_TAG_OBJECT, e->seen[i]));
    js_free(context, e->seen);
    js_free(context, e->slots);
    js_free(context, e->out.data);
}
