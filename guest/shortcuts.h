/* Stands in front of QuickJS: functions of the C library that are slow in WebAssembly, done faster for what programs ask
 * of them most. A result is the library's to the bit; what a shortcut does not cover goes on to the library.
 */
#ifndef CHRYSALID_SHORTCUTS_H
#define CHRYSALID_SHORTCUTS_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The library takes a step for each bit between the two exponents. */
static double whole_fmod(double x, double y)
{
    double size_x = fabs(x), size_y = fabs(y);

    if (size_x < 0x1p63 && size_y < 0x1p63 && size_y >= 1) {
        uint64_t whole_x = (uint64_t)size_x, whole_y = (uint64_t)size_y;

        if ((double)whole_x == size_x && (double)whole_y == size_y)
            return copysign((double)(whole_x % whole_y), x);
    }
    return fmod(x, y);
}

#define DIGITS_MAX (((1ull << 53) - 10) / 10) /* one digit more, and the number still is a double without loss */
#define POWER_MAX 22                          /* the same of a power of ten */

/* The library computes with fractions of 113 bits, in software. Where digits and power of ten are both doubles without
 * loss, their quotient is rounded once, and so is right.
 */
static double short_strtod(const char *text, char **end)
{
    static const double powers[POWER_MAX + 1] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    const char *first = text + (*text == '-'), *at;
    uint64_t digits = 0;
    uint32_t places = 0;
    bool point = false;
    double value;

    for (at = first; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        if (digits > DIGITS_MAX)
            return strtod(text, end);
        digits = digits * 10 + (uint64_t)(*at - '0');
        places += point;
    }
    /* An exponent, a hexadecimal number, a name, a space in front, nothing: rare, or not to be found in JSON. */
    if (end || *first < '0' || *first > '9' || places > POWER_MAX || (*at | 0x20) == 'e' || (*at | 0x20) == 'x')
        return strtod(text, end);
    value = (double)digits / powers[places];
    return first == text ? value : -value;
}

static uint64_t word_at(const uint8_t *bytes)
{
    uint64_t word;

    memcpy(&word, bytes, sizeof(word));
    return word;
}

/* The library goes byte by byte. */
static int word_memcmp(const void *left, const void *right, size_t size)
{
    const uint8_t *a = left, *b = right;

    for (; size >= sizeof(uint64_t); a += sizeof(uint64_t), b += sizeof(uint64_t), size -= sizeof(uint64_t)) {
        uint64_t word_a = word_at(a), word_b = word_at(b);

        if (word_a != word_b)
            return __builtin_bswap64(word_a) < __builtin_bswap64(word_b) ? -1 : 1;
    }
    for (; size; a++, b++, size--)
        if (*a != *b)
            return *a - *b;
    return 0;
}

#define fmod whole_fmod
#define strtod short_strtod
#define memcmp word_memcmp

#endif
