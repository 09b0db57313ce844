/* The authority of a URL: user, password, host and port. */

/* Digits of a port; with `rest`, what follows them is left out, else it is an error. */
static int parse_port(struct url *url, struct cursor c, bool rest)
{
    uint32_t port = 0;
    const uint8_t *start = c.at;

    for (; c.at < c.end && *c.at >= '0' && *c.at <= '9'; c.at++) {
        port = port * 10 + (*c.at - '0');
        if (port > 65535)
            return INVALID;
    }
    if (c.at < c.end && !rest)
        return INVALID;
    if (c.at > start)
        url->port = (int32_t)port == default_port(&url->scheme) ? -1 : (int32_t)port;
    return 0;
}

/* The colon before the port, or the end. */
static const uint8_t *end_of_host(struct cursor c)
{
    bool inside = false;

    for (; c.at < c.end && (inside || *c.at != ':'); c.at++)
        inside = *c.at == '[' || (inside && *c.at != ']');
    return c.at;
}

static const uint8_t *end_of_authority(const struct url *url, struct cursor c)
{
    while (c.at < c.end && !is_slash(url, *c.at) && *c.at != '?' && *c.at != '#')
        c.at++;
    return c.at;
}

static int replace_host(struct url *url, struct cursor c)
{
    struct bytes host = { 0 };
    int status = host_parse(&host, c.at, (uint32_t)(c.end - c.at), is_special(url));

    if (status) {
        bytes_free(&host);
        return status;
    }
    if (is_file(url) && bytes_equal(&host, "localhost"))
        host.length = 0;
    bytes_free(&url->host);
    url->host = host;
    url->has_host = true;
    return 0;
}

static int parse_userinfo(struct url *url, struct cursor c)
{
    const uint8_t *colon = memchr(c.at, ':', (size_t)(c.end - c.at));

    if (percent_encode(&url->username, c.at, colon ? colon : c.end, in_userinfo))
        return -1;
    return colon ? percent_encode(&url->password, colon + 1, c.end, in_userinfo) : 0;
}

static int parse_authority(struct url *url, struct cursor c)
{
    struct cursor host = { c.at, end_of_authority(url, c) };
    const uint8_t *sign = host.end, *colon;
    int status;

    while (sign > host.at && *--sign != '@')
        ;
    if (sign < host.end && *sign == '@') {
        if (sign + 1 == host.end)
            return INVALID;
        if (parse_userinfo(url, (struct cursor){ host.at, sign }))
            return -1;
        host.at = sign + 1;
    }
    colon = end_of_host(host);
    if (colon == host.at && (colon < host.end || is_special(url)))
        return INVALID;
    status = replace_host(url, (struct cursor){ host.at, colon });
    if (!status && colon < host.end)
        status = parse_port(url, (struct cursor){ colon + 1, host.end }, false);
    return status ? status : parse_path_start(url, (struct cursor){ host.end, c.end }, false);
}

static int parse_special_authority(struct url *url, struct cursor c)
{
    while (c.at < c.end && (*c.at == '/' || *c.at == '\\'))
        c.at++;
    return parse_authority(url, c);
}
