/* URLs after the WHATWG's URL standard: from text to parts and back, and what the setters do. The classes are in
 * url_class.c.
 */

struct url {
    struct bytes scheme; /* without the colon */
    struct bytes username;
    struct bytes password;
    struct bytes host;
    struct bytes path; /* each segment after a slash, unless `is_opaque` */
    struct bytes query;
    struct bytes fragment;
    int32_t port; /* -1 for none, or that of the scheme */
    bool has_host, has_query, has_fragment, is_opaque;
};

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
};

static const struct {
    const char *scheme;
    int32_t port;
} special_schemes[] = { { "http", 80 }, { "https", 443 }, { "ws", 80 }, { "wss", 443 }, { "ftp", 21 }, { "file", -1 } };

/* Characters that each part escapes beside controls and what lies outside of ASCII. */
static const char in_fragment[] = " \"<>`";
static const char in_query[] = " \"#<>";
static const char in_special_query[] = " \"#<>'";
static const char in_path[] = " \"#<>?^`{}";
static const char in_userinfo[] = " \"#<>?^`{}/:;=@[\\]|";

static void url_free(struct url *url)
{
    bytes_free(&url->scheme);
    bytes_free(&url->username);
    bytes_free(&url->password);
    bytes_free(&url->host);
    bytes_free(&url->path);
    bytes_free(&url->query);
    bytes_free(&url->fragment);
}

static int copy_bytes(struct bytes *to, const struct bytes *from)
{
    to->length = 0;
    return bytes_put(to, from->data, from->length);
}

static bool is_special_scheme(const struct bytes *scheme)
{
    for (uint32_t i = 0; i < countof(special_schemes); i++)
        if (bytes_equal(scheme, special_schemes[i].scheme))
            return true;
    return false;
}

static int32_t default_port(const struct bytes *scheme)
{
    for (uint32_t i = 0; i < countof(special_schemes); i++)
        if (bytes_equal(scheme, special_schemes[i].scheme))
            return special_schemes[i].port;
    return -1;
}

static bool is_special(const struct url *url)
{
    return is_special_scheme(&url->scheme);
}

static bool is_file(const struct url *url)
{
    return bytes_equal(&url->scheme, "file");
}

static bool is_letter(uint8_t byte)
{
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'z';
}

static bool is_slash(const struct url *url, uint8_t byte)
{
    return byte == '/' || (byte == '\\' && is_special(url));
}

static int percent_encode(struct bytes *out, const uint8_t *at, const uint8_t *end, const char *escaped)
{
    for (; at < end; at++) {
        bool plain = *at >= 0x20 && *at <= 0x7e && !strchr(escaped, *at);
        if (plain ? bytes_add(out, *at) : percent_byte(out, *at))
            return -1;
    }
    return 0;
}

/* ---- drive letters and dots ---- */

static bool is_drive(const uint8_t *at, const uint8_t *end)
{
    return end - at == 2 && is_letter(at[0]) && (at[1] == ':' || at[1] == '|');
}

static bool starts_with_drive(struct cursor c)
{
    return c.end - c.at >= 2 && is_drive(c.at, c.at + 2) && (c.end - c.at == 2 || memchr("/\\?#", c.at[2], 4));
}

/* Whether the first segment of a path is a drive in its usual form, `/C:`. */
static bool path_has_drive(const struct bytes *path)
{
    return path->length >= 3 && is_letter(path->data[1]) && path->data[2] == ':' &&
           (path->length == 3 || path->data[3] == '/');
}

static bool take_dot(struct cursor *c)
{
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        return true;
    }
    if (c->end - c->at >= 3 && c->at[0] == '%' && c->at[1] == '2' && (c->at[2] | 0x20) == 'e') {
        c->at += 3;
        return true;
    }
    return false;
}

/* How many dots a segment consists of, 0 if of anything else. */
static int dots(const uint8_t *at, const uint8_t *end)
{
    struct cursor c = { at, end };
    int count = 0;

    while (count < 3 && take_dot(&c))
        count++;
    return c.at == c.end ? count : 0;
}

static void shorten_path(struct url *url)
{
    if (is_file(url) && path_has_drive(&url->path) && url->path.length == 3)
        return;
    while (url->path.length > 0 && url->path.data[--url->path.length] != '/')
        ;
}

/* ---- from the path on ---- */

static int parse_fragment(struct url *url, struct cursor c)
{
    url->has_fragment = true;
    url->fragment.length = 0;
    return percent_encode(&url->fragment, c.at, c.end, in_fragment);
}

static int parse_query(struct url *url, struct cursor c, bool whole)
{
    const uint8_t *end = whole ? NULL : memchr(c.at, '#', (size_t)(c.end - c.at));

    url->has_query = true;
    url->query.length = 0;
    if (percent_encode(&url->query, c.at, end ? end : c.end, is_special(url) ? in_special_query : in_query))
        return -1;
    return end ? parse_fragment(url, (struct cursor){ end + 1, c.end }) : 0;
}

/* What follows the path: nothing, a query, a fragment. */
static int parse_after_path(struct url *url, struct cursor c)
{
    if (c.at == c.end)
        return 0;
    c.at++;
    return c.at[-1] == '?' ? parse_query(url, c, false) : parse_fragment(url, c);
}

static int add_segment(struct url *url, const uint8_t *at, const uint8_t *end)
{
    if (bytes_add(&url->path, '/'))
        return -1;
    if (is_file(url) && url->path.length == 1 && is_drive(at, end))
        return bytes_add(&url->path, at[0]) || bytes_add(&url->path, ':') ? -1 : 0;
    return percent_encode(&url->path, at, end, in_path);
}

/* Segments up to the query or fragment, or to the end if `whole`. */
static int parse_path(struct url *url, struct cursor c, bool whole)
{
    for (;;) {
        const uint8_t *start = c.at;
        bool more;
        int count, status = 0;

        while (c.at < c.end && !is_slash(url, *c.at) && (whole || (*c.at != '?' && *c.at != '#')))
            c.at++;
        more = c.at < c.end && is_slash(url, *c.at);
        count = dots(start, c.at);
        if (count == 2)
            shorten_path(url);
        if (count == 0 || count > 2)
            status = add_segment(url, start, c.at);
        else if (!more)
            status = bytes_add(&url->path, '/');
        if (status)
            return -1;
        if (!more)
            return whole ? 0 : parse_after_path(url, c);
        c.at++;
    }
}

static int parse_path_start(struct url *url, struct cursor c, bool whole)
{
    if (is_special(url)) {
        if (c.at < c.end && is_slash(url, *c.at))
            c.at++;
        return parse_path(url, c, whole);
    }
    if (c.at == c.end)
        return whole && !url->has_host ? bytes_add(&url->path, '/') : 0;
    if (!whole && (*c.at == '?' || *c.at == '#'))
        return parse_after_path(url, c);
    if (*c.at == '/')
        c.at++;
    return parse_path(url, c, whole);
}

static int parse_opaque_path(struct url *url, struct cursor c)
{
    const uint8_t *end = c.at;

    url->is_opaque = true;
    while (end < c.end && *end != '?' && *end != '#')
        end++;
    if (percent_encode(&url->path, c.at, end, ""))
        return -1;
    /* A space at the end would be trimmed from the text that this becomes. */
    if (end < c.end && end > c.at && end[-1] == ' ') {
        url->path.length--;
        if (bytes_text(&url->path, "%20"))
            return -1;
    }
    return parse_after_path(url, (struct cursor){ end, c.end });
}

/* url_authority.c */
static int parse_authority(struct url *url, struct cursor c);
static int parse_special_authority(struct url *url, struct cursor c);
static int replace_host(struct url *url, struct cursor c);
static const uint8_t *end_of_authority(const struct url *url, struct cursor c);

/* ---- relative to a base ---- */

static int copy_authority(struct url *url, const struct url *base)
{
    url->port = base->port;
    url->has_host = base->has_host;
    return copy_bytes(&url->username, &base->username) || copy_bytes(&url->password, &base->password) ||
                   copy_bytes(&url->host, &base->host)
               ? -1
               : 0;
}

static int copy_path_and_query(struct url *url, const struct url *base)
{
    url->has_query = base->has_query;
    url->is_opaque = base->is_opaque;
    return copy_bytes(&url->path, &base->path) || copy_bytes(&url->query, &base->query) ? -1 : 0;
}

/* The base's path goes on with what is left of the text. */
static int parse_from_base_path(struct url *url, struct cursor c, bool keep)
{
    if (c.at == c.end)
        return 0;
    if (*c.at == '?' || *c.at == '#')
        return parse_after_path(url, c);
    url->has_query = false;
    url->query.length = 0;
    if (keep)
        shorten_path(url);
    else
        url->path.length = 0;
    return parse_path(url, c, false);
}

static int parse_relative(struct url *url, const struct url *base, struct cursor c)
{
    if (copy_bytes(&url->scheme, &base->scheme))
        return -1;
    if (c.at < c.end && is_slash(url, *c.at)) {
        if (c.end - c.at > 1 && is_slash(url, c.at[1])) {
            c.at += 2;
            return is_special(url) ? parse_special_authority(url, c) : parse_authority(url, c);
        }
        c.at++;
        return copy_authority(url, base) ? -1 : parse_path(url, c, false);
    }
    if (copy_authority(url, base) || copy_path_and_query(url, base))
        return -1;
    return parse_from_base_path(url, c, true);
}

static int parse_file_host(struct url *url, struct cursor c)
{
    struct cursor host = { c.at, end_of_authority(url, c) };
    int status = 0;

    if (is_drive(host.at, host.end))
        return parse_path(url, c, false);
    if (host.at < host.end)
        status = replace_host(url, host);
    return status ? status : parse_path_start(url, (struct cursor){ host.end, c.end }, false);
}

static int parse_file(struct url *url, const struct url *base, struct cursor c)
{
    bool from_base = base && is_file(base);

    url->has_host = true;
    if (c.at < c.end && is_slash(url, *c.at)) {
        c.at++;
        if (c.at < c.end && is_slash(url, *c.at)) {
            c.at++;
            return parse_file_host(url, c);
        }
        if (from_base) {
            if (copy_bytes(&url->host, &base->host))
                return -1;
            if (!starts_with_drive(c) && path_has_drive(&base->path) && bytes_put(&url->path, base->path.data, 3))
                return -1;
        }
        return parse_path(url, c, false);
    }
    if (!from_base)
        return parse_path(url, c, false);
    if (copy_bytes(&url->host, &base->host) || copy_path_and_query(url, base))
        return -1;
    return parse_from_base_path(url, c, !starts_with_drive(c));
}

/* ---- the whole ---- */

/* The text without blanks at its ends, tabs and line ends. */
static int url_text(struct bytes *out, JSValueConst value, bool trim)
{
    struct bytes text = { 0 };
    uint32_t start = 0, end;
    int status = bytes_of_value(&text, value);

    end = text.length;
    while (trim && start < end && text.data[start] <= ' ')
        start++;
    while (trim && end > start && text.data[end - 1] <= ' ')
        end--;
    for (; !status && start < end; start++)
        if (text.data[start] != '\t' && text.data[start] != '\n' && text.data[start] != '\r')
            status = bytes_add(out, text.data[start]);
    bytes_free(&text);
    return status;
}

/* Takes a scheme and its colon, if the text begins with one. */
static int take_scheme(struct bytes *scheme, struct cursor *c)
{
    const uint8_t *at = c->at;

    if (at == c->end || !is_letter(*at))
        return INVALID;
    while (at < c->end && (is_letter(*at) || (*at >= '0' && *at <= '9') || *at == '+' || *at == '-' || *at == '.'))
        at++;
    if (at == c->end || *at != ':')
        return INVALID;
    scheme->length = 0;
    for (; c->at < at; c->at++)
        if (bytes_add(scheme, is_letter(*c->at) ? *c->at | 0x20 : *c->at))
            return -1;
    c->at++;
    return 0;
}

static int parse_after_scheme(struct url *url, const struct url *base, struct cursor c)
{
    bool two_slashes = c.end - c.at >= 2 && c.at[0] == '/' && c.at[1] == '/';

    if (is_file(url))
        return parse_file(url, base, c);
    if (is_special(url)) {
        if (!two_slashes && base && base->scheme.length == url->scheme.length &&
            !memcmp(base->scheme.data, url->scheme.data, url->scheme.length))
            return parse_relative(url, base, c);
        return parse_special_authority(url, c);
    }
    if (two_slashes) {
        c.at += 2;
        return parse_authority(url, c);
    }
    if (c.at < c.end && *c.at == '/') {
        c.at++;
        return parse_path(url, c, false);
    }
    return parse_opaque_path(url, c);
}

/* Fills an empty `url` from text and perhaps a base: 0, INVALID, or -1 with an exception. */
static int url_parse(struct url *url, const struct url *base, struct cursor c)
{
    int status = take_scheme(&url->scheme, &c);

    url->port = -1;
    if (status == 0)
        return parse_after_scheme(url, base, c);
    if (status < 0)
        return -1;
    if (!base)
        return INVALID;
    if (base->is_opaque) {
        if (c.at == c.end || *c.at != '#')
            return INVALID;
        if (copy_bytes(&url->scheme, &base->scheme) || copy_path_and_query(url, base))
            return -1;
        return parse_after_path(url, c);
    }
    if (!is_file(base))
        return parse_relative(url, base, c);
    return copy_bytes(&url->scheme, &base->scheme) ? -1 : parse_file(url, base, c);
}
