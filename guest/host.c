/* Hosts of URLs, after the WHATWG's URL standard: names, IPv4 in all its forms, IPv6. Names in Unicode are normalised
 * (NFKC, lower case, ignored characters dropped) and written in Punycode; this is not the whole of UTS 46: what a mapping
 * table would refuse is let through, and labels that are Punycode already stay as they are.
 */

/* Longest label of a name in Unicode and longest such name, in code points: to put marks in order and Punycode both take
 * quadratic time.
 */
#define LABEL_MAX 255
#define DOMAIN_MAX 1000

#define INVALID 1 /* no URL, where -1 is an exception */

static bool is_forbidden_in_host(uint8_t byte)
{
    return byte == 0 || (byte < 0x80 && strchr("\t\n\r #/:<>?@[\\]^|", byte));
}

static bool is_forbidden_in_domain(uint8_t byte)
{
    return byte <= 0x1f || byte == '%' || byte == 0x7f || is_forbidden_in_host(byte);
}

/* ---- IPv4 ---- */

/* The number in a part of an address; INVALID if it is none. Larger ones than fit come out as 2^32. */
static int ipv4_number(const uint8_t *at, uint32_t length, uint64_t *out)
{
    uint32_t radix = 10;
    uint64_t value = 0;

    if (length == 0)
        return INVALID;
    if (length >= 2 && at[0] == '0' && (at[1] | 0x20) == 'x') {
        radix = 16;
        at += 2;
        length -= 2;
    } else if (length >= 2 && at[0] == '0') {
        radix = 8;
        at++;
        length--;
    }
    for (uint32_t i = 0; i < length; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0 || (uint32_t)digit >= radix)
            return INVALID;
        value = value * radix + (uint32_t)digit;
        if (value > UINT32_MAX)
            value = (uint64_t)UINT32_MAX + 1;
    }
    *out = value;
    return 0;
}

/* Where the last part begins, a dot at the end left out. */
static uint32_t last_part(const struct bytes *domain, uint32_t *end)
{
    uint32_t start;

    *end = domain->length;
    if (*end > 0 && domain->data[*end - 1] == '.')
        (*end)--;
    start = *end;
    while (start > 0 && domain->data[start - 1] != '.')
        start--;
    return start;
}

static bool ends_in_number(const struct bytes *domain)
{
    uint32_t end, start = last_part(domain, &end), at = start;
    uint64_t number;

    if (start == end)
        return false;
    while (at < end && domain->data[at] >= '0' && domain->data[at] <= '9')
        at++;
    return at == end || ipv4_number(domain->data + start, end - start, &number) == 0;
}

static int ipv4_parse(struct bytes *out, const struct bytes *domain)
{
    uint64_t numbers[4], address = 0;
    uint32_t count = 0, start = 0, end;
    char text[16];

    last_part(domain, &end);
    for (uint32_t i = 0; i <= end; i++) {
        if (i < end && domain->data[i] != '.')
            continue;
        if (count == 4 || ipv4_number(domain->data + start, i - start, &numbers[count]))
            return INVALID;
        count++;
        start = i + 1;
    }
    for (uint32_t i = 0; i + 1 < count; i++)
        if (numbers[i] > 255)
            return INVALID;
    if (numbers[count - 1] >= (uint64_t)1 << (8 * (5 - count)))
        return INVALID;
    for (uint32_t i = 0; i + 1 < count; i++)
        address |= numbers[i] << (8 * (3 - i));
    address |= numbers[count - 1];
    snprintf(text, sizeof(text), "%u.%u.%u.%u", (unsigned)(address >> 24), (unsigned)(address >> 16 & 255),
             (unsigned)(address >> 8 & 255), (unsigned)(address & 255));
    return bytes_text(out, text);
}

/* ---- IPv6 ---- */

/* The four numbers of an IPv4 address at the end of an IPv6 one, as two pieces. */
static int ipv6_tail(const uint8_t *at, const uint8_t *end, uint16_t pieces[2])
{
    for (int i = 0; i < 4; i++) {
        int value = -1;

        if (i > 0 && (at == end || *at++ != '.'))
            return INVALID;
        while (at < end && *at >= '0' && *at <= '9') {
            if (value == 0)
                return INVALID;
            value = (value < 0 ? 0 : value * 10) + (*at++ - '0');
            if (value > 255)
                return INVALID;
        }
        if (value < 0)
            return INVALID;
        pieces[i / 2] = (uint16_t)(pieces[i / 2] << 8 | value);
    }
    return at == end ? 0 : INVALID;
}

static int ipv6_pieces(const uint8_t *at, const uint8_t *end, uint16_t pieces[8])
{
    int count = 0, compress = -1, swaps;

    if (at < end && *at == ':') {
        if (end - at < 2 || at[1] != ':')
            return INVALID;
        at += 2;
        compress = count;
    }
    while (at < end) {
        const uint8_t *start = at;
        uint32_t value = 0;

        if (count == 8)
            return INVALID;
        if (*at == ':') {
            if (compress >= 0)
                return INVALID;
            at++;
            compress = count;
            continue;
        }
        while (at < end && at - start < 4 && hex_digit(*at) >= 0)
            value = value << 4 | (uint32_t)hex_digit(*at++);
        if (at < end && *at == '.') {
            if (at == start || count > 6 || ipv6_tail(start, end, pieces + count))
                return INVALID;
            count += 2;
            break;
        }
        if (at < end && *at == ':') {
            if (++at == end)
                return INVALID;
        } else if (at < end) {
            return INVALID;
        }
        pieces[count++] = (uint16_t)value;
    }
    if (compress < 0)
        return count == 8 ? 0 : INVALID;
    swaps = count - compress;
    for (int i = 7; swaps > 0 && i > compress + swaps - 1; i--, swaps--) {
        uint16_t piece = pieces[i];
        pieces[i] = pieces[compress + swaps - 1];
        pieces[compress + swaps - 1] = piece;
    }
    return 0;
}

static int ipv6_write(struct bytes *out, const uint16_t pieces[8])
{
    int best = -1, best_length = 1;
    char text[8];

    for (int i = 0; i < 8; i++) {
        int length = 0;
        while (i + length < 8 && pieces[i + length] == 0)
            length++;
        if (length > best_length) {
            best = i;
            best_length = length;
        }
    }
    if (bytes_add(out, '['))
        return -1;
    for (int i = 0; i < 8; i++) {
        if (i == best) {
            if (bytes_text(out, i == 0 ? "::" : ":"))
                return -1;
            i += best_length - 1;
            continue;
        }
        snprintf(text, sizeof(text), i < 7 ? "%x:" : "%x", pieces[i]);
        if (bytes_text(out, text))
            return -1;
    }
    return bytes_add(out, ']');
}

/* ---- names in Unicode ---- */

static uint32_t punycode_adapt(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;

    delta = first ? delta / 700 : delta / 2;
    delta += delta / count;
    for (; delta > 455; k += 36)
        delta /= 35;
    return k + 36 * delta / (delta + 38);
}

static int punycode_number(struct bytes *out, uint32_t number, uint32_t bias)
{
    for (uint32_t k = 36;; k += 36) {
        uint32_t threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
        uint32_t digit = number;

        if (number >= threshold)
            digit = threshold + (number - threshold) % (36 - threshold);
        if (bytes_add(out, (uint8_t)(digit < 26 ? 'a' + digit : '0' + digit - 26)))
            return -1;
        if (number < threshold)
            return 0;
        number = (number - threshold) / (36 - threshold);
    }
}

static int punycode(struct bytes *out, const uint32_t *label, uint32_t length)
{
    uint32_t least = 0x80, delta = 0, bias = 72, basic = 0, done;

    if (bytes_text(out, "xn--"))
        return -1;
    for (uint32_t i = 0; i < length; i++) {
        if (label[i] >= 0x80)
            continue;
        basic++;
        if (bytes_add(out, (uint8_t)label[i]))
            return -1;
    }
    if (basic && bytes_add(out, '-'))
        return -1;
    for (done = basic; done < length; delta++, least++) {
        uint32_t next = UINT32_MAX;

        for (uint32_t i = 0; i < length; i++)
            if (label[i] >= least && label[i] < next)
                next = label[i];
        delta += (next - least) * (done + 1); /* fits: fewer than 2^8 labels of less than 2^21 */
        least = next;
        for (uint32_t i = 0; i < length; i++) {
            if (label[i] < least)
                delta++;
            if (label[i] != least)
                continue;
            if (punycode_number(out, delta, bias))
                return -1;
            bias = punycode_adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
    return 0;
}

/* Characters that a name may hold and that do not count. */
static bool is_ignored(uint32_t code)
{
    return code == 0xad || code == 0x200b || code == 0x200c || code == 0x200d || code == 0x2060 || code == 0xfeff ||
           (code >= 0xfe00 && code <= 0xfe0f) || code == 0x34f || code == 0x1806 || (code >= 0x180b && code <= 0x180d);
}

static bool is_dot(uint32_t code)
{
    return code == '.' || code == 0x3002 || code == 0xff0e || code == 0xff61;
}

/* The code points of a domain as they are written, ignored ones left out: INVALID where there are too many. */
static int domain_read(const struct bytes *domain, uint32_t codes[DOMAIN_MAX], int *count)
{
    const uint8_t *at = domain->data, *end = at + domain->length;
    uint32_t label = 0;

    *count = 0;
    while (at < end) {
        uint32_t code = next_code_point(&at, end);

        if (is_ignored(code))
            continue;
        label = is_dot(code) ? 0 : label + 1;
        if (label > LABEL_MAX || *count == DOMAIN_MAX)
            return INVALID;
        codes[(*count)++] = is_dot(code) ? '.' : code;
    }
    return 0;
}

/* The same: compatible forms made one, lower case, composed. The caller frees `*out`. */
static int domain_code_points(const struct bytes *domain, uint32_t **out, uint32_t *count)
{
    uint32_t codes[DOMAIN_MAX], *composed, *lowered;
    int length, lowered_length = 0;

    if (domain_read(domain, codes, &length))
        return INVALID;
    length = unicode_normalize(&composed, codes, length, UNICODE_NFKC, runtime, (DynBufReallocFunc *)js_realloc_rt);
    if (length < 0)
        return -1;
    lowered = js_malloc(context, ((size_t)length * LRE_CC_RES_LEN_MAX + 1) * sizeof(*lowered));
    if (!lowered) {
        js_free(context, composed);
        return -1;
    }
    for (int i = 0; i < length; i++) {
        if (composed[i] == 0x1e9e)
            lowered[lowered_length++] = 0xdf;
        else
            lowered_length += lre_case_conv(lowered + lowered_length, composed[i], 1);
    }
    js_free(context, composed);
    length = unicode_normalize(out, lowered, lowered_length, UNICODE_NFC, runtime, (DynBufReallocFunc *)js_realloc_rt);
    js_free(context, lowered);
    if (length < 0)
        return -1;
    *count = (uint32_t)length;
    return 0;
}

static int label_to_ascii(struct bytes *out, const uint32_t *label, uint32_t length)
{
    bool ascii = true;

    for (uint32_t i = 0; i < length; i++)
        ascii = ascii && label[i] < 0x80;
    if (!ascii)
        return length > LABEL_MAX ? INVALID : punycode(out, label, length);
    for (uint32_t i = 0; i < length; i++)
        if (bytes_add(out, (uint8_t)label[i]))
            return -1;
    return 0;
}

static int domain_to_ascii(struct bytes *out, const struct bytes *domain)
{
    uint32_t *codes, count, start = 0;
    int status = 0;

    for (uint32_t i = 0; i <= domain->length; i++) {
        if (i == domain->length) { /* all is ASCII */
            for (uint32_t j = 0; j < domain->length; j++) {
                uint8_t byte = domain->data[j];
                if (bytes_add(out, byte >= 'A' && byte <= 'Z' ? byte | 0x20 : byte))
                    return -1;
            }
            return out->length ? 0 : INVALID;
        }
        if (domain->data[i] >= 0x80)
            break;
    }
    status = domain_code_points(domain, &codes, &count);
    if (status)
        return status;
    for (uint32_t i = 0; !status && i <= count; i++) {
        if (i < count && codes[i] != '.')
            continue;
        if (start > 0)
            status = bytes_add(out, '.');
        if (!status)
            status = label_to_ascii(out, codes + start, i - start);
        start = i + 1;
    }
    js_free(context, codes);
    return status ? status : out->length ? 0 : INVALID;
}

/* ---- any host ---- */

static int domain_parse(struct bytes *out, const uint8_t *at, uint32_t length)
{
    struct bytes decoded = { 0 }, domain = { 0 };
    int status = percent_decode(&decoded, at, length, false);

    if (!status)
        status = utf8_repair(&domain, decoded.data, decoded.length);
    decoded.length = 0;
    if (!status)
        status = domain_to_ascii(&decoded, &domain);
    for (uint32_t i = 0; !status && i < decoded.length; i++)
        if (is_forbidden_in_domain(decoded.data[i]))
            status = INVALID;
    if (!status)
        status = ends_in_number(&decoded) ? ipv4_parse(out, &decoded) : bytes_put(out, decoded.data, decoded.length);
    bytes_free(&decoded);
    bytes_free(&domain);
    return status;
}

/* Appends the canonical form of a host to `out`: 0, INVALID, or -1 with an exception. */
static int host_parse(struct bytes *out, const uint8_t *at, uint32_t length, bool is_special)
{
    if (length > 0 && at[0] == '[') {
        uint16_t pieces[8] = { 0 };

        if (at[length - 1] != ']' || ipv6_pieces(at + 1, at + length - 1, pieces))
            return INVALID;
        return ipv6_write(out, pieces);
    }
    if (is_special)
        return domain_parse(out, at, length);
    for (uint32_t i = 0; i < length; i++) {
        if (is_forbidden_in_host(at[i]))
            return INVALID;
        if (at[i] < 0x20 || at[i] > 0x7e ? percent_byte(out, at[i]) : bytes_add(out, at[i]))
            return -1;
    }
    return 0;
}
