/* URLs to text, and what the setters of the class do to one. */

static int write_host_and_port(struct bytes *out, const struct url *url)
{
    char port[8];

    if (bytes_put(out, url->host.data, url->host.length))
        return -1;
    if (url->port < 0)
        return 0;
    snprintf(port, sizeof(port), ":%d", (int)url->port);
    return bytes_text(out, port);
}

static int write_authority(struct bytes *out, const struct url *url)
{
    if (bytes_text(out, "//"))
        return -1;
    if (url->username.length || url->password.length) {
        if (bytes_put(out, url->username.data, url->username.length))
            return -1;
        if (url->password.length && (bytes_add(out, ':') || bytes_put(out, url->password.data, url->password.length)))
            return -1;
        if (bytes_add(out, '@'))
            return -1;
    }
    return write_host_and_port(out, url);
}

static int url_write(struct bytes *out, const struct url *url)
{
    if (bytes_put(out, url->scheme.data, url->scheme.length) || bytes_add(out, ':'))
        return -1;
    if (url->has_host) {
        if (write_authority(out, url))
            return -1;
    } else if (!url->is_opaque && url->path.length > 1 && url->path.data[0] == '/' && url->path.data[1] == '/') {
        if (bytes_text(out, "/."))
            return -1;
    }
    if (bytes_put(out, url->path.data, url->path.length))
        return -1;
    if (url->has_query && (bytes_add(out, '?') || bytes_put(out, url->query.data, url->query.length)))
        return -1;
    if (url->has_fragment && (bytes_add(out, '#') || bytes_put(out, url->fragment.data, url->fragment.length)))
        return -1;
    return 0;
}

static int write_origin(struct bytes *out, const struct url *url)
{
    if (bytes_equal(&url->scheme, "blob")) {
        struct url inner = { 0 };
        struct cursor c = { url->path.data, url->path.data + url->path.length };
        int status = url_parse(&inner, NULL, c);

        if (!status && (bytes_equal(&inner.scheme, "http") || bytes_equal(&inner.scheme, "https")))
            status = write_origin(out, &inner);
        else if (status >= 0)
            status = bytes_text(out, "null");
        url_free(&inner);
        return status;
    }
    if (!is_special(url) || is_file(url))
        return bytes_text(out, "null");
    if (bytes_put(out, url->scheme.data, url->scheme.length) || bytes_text(out, "://"))
        return -1;
    return write_host_and_port(out, url);
}

/* ---- setters: each leaves the URL as it is where the text does not fit; -1 is an exception ---- */

static bool has_no_credentials(const struct url *url)
{
    return !url->has_host || url->host.length == 0 || is_file(url);
}

static int set_protocol(struct url *url, struct cursor c)
{
    struct bytes scheme = { 0 };
    int status = take_scheme(&scheme, &c);
    bool fits = status == 0 && is_special_scheme(&scheme) == is_special(url);

    if (fits && bytes_equal(&scheme, "file") && (url->username.length || url->password.length || url->port >= 0))
        fits = false;
    if (fits && is_file(url) && url->host.length == 0)
        fits = false;
    if (!fits) {
        bytes_free(&scheme);
        return status < 0 ? -1 : 0;
    }
    bytes_free(&url->scheme);
    url->scheme = scheme;
    if (url->port == default_port(&scheme))
        url->port = -1;
    return 0;
}

static int set_host(struct url *url, struct cursor c, bool with_port)
{
    const uint8_t *end = end_of_authority(url, c), *colon;
    struct cursor host = { c.at, end };
    int status;

    colon = is_file(url) ? end : end_of_host(host);
    if (colon < end && (colon == host.at || !with_port))
        return 0;
    if (colon == host.at && !is_file(url) &&
        (is_special(url) || url->username.length || url->password.length || url->port >= 0))
        return 0;
    host.end = colon;
    if (host.at == host.end) {
        url->host.length = 0;
        url->has_host = true;
        return 0;
    }
    status = replace_host(url, host);
    if (!status && colon < end && with_port)
        parse_port(url, (struct cursor){ colon + 1, end }, true);
    return status < 0 ? -1 : 0;
}

static int set_query(struct url *url, struct cursor c)
{
    if (c.at < c.end)
        return parse_query(url, *c.at == '?' ? (struct cursor){ c.at + 1, c.end } : c, true);
    url->has_query = false;
    url->query.length = 0;
    return 0;
}

static int set_fragment(struct url *url, struct cursor c)
{
    if (c.at < c.end)
        return parse_fragment(url, *c.at == '#' ? (struct cursor){ c.at + 1, c.end } : c);
    url->has_fragment = false;
    url->fragment.length = 0;
    return 0;
}
