/* QuickJS-ng without a sandbox: the other side of the benchmark. Built by `cargo xtask bench` from the guest's own
 * QuickJS source, by the guest's own compiler.
 *
 * Programs come in on standard input and results go out on standard output, so that both sides can take turns:
 *
 *   in    length (u32, little endian) | source text
 *   out   nanoseconds (u64, little endian) | length (u32) | the program's value as text
 *
 * Each program gets a fresh runtime and context. The time is that from the source text to the value, with jobs run
 * dry, as in the sandbox; making and freeing the runtime does not count.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "quickjs.c"

static uint64_t now_nanos(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void fail(const char *what)
{
    fprintf(stderr, "native: %s\n", what);
    exit(1);
}

/* An async program's promise has its value in an object, so that a thenable is not awaited. */
static JSValue run(JSContext *context, const char *source, size_t length)
{
    JSValue promise, wrapped, value;
    JSContext *ctx;

    promise = JS_Eval(context, source, length, "program.js", JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_ASYNC);
    if (JS_IsException(promise))
        fail("the program does not compile");
    while (JS_ExecutePendingJob(JS_GetRuntime(context), &ctx) > 0)
        ;
    if (JS_PromiseState(context, promise) != JS_PROMISE_FULFILLED)
        fail("the program failed");
    wrapped = JS_PromiseResult(context, promise);
    value = JS_GetPropertyStr(context, wrapped, "value");
    JS_FreeValue(context, wrapped);
    JS_FreeValue(context, promise);
    return value;
}

static void serve(const char *source, uint32_t length)
{
    JSRuntime *runtime = JS_NewRuntime();
    JSContext *context = runtime ? JS_NewContext(runtime) : NULL;
    uint64_t began, took;
    uint32_t text_length;
    const char *text;
    JSValue value;
    size_t size;

    if (!context)
        fail("no memory");
    began = now_nanos();
    value = run(context, source, length);
    text = JS_ToCStringLen(context, &size, value);
    took = now_nanos() - began;
    if (!text)
        fail("the program's value is not text");
    text_length = (uint32_t)size;
    fwrite(&took, sizeof(took), 1, stdout);
    fwrite(&text_length, sizeof(text_length), 1, stdout);
    fwrite(text, size, 1, stdout);
    fflush(stdout);
    JS_FreeCString(context, text);
    JS_FreeValue(context, value);
    JS_FreeContext(context);
    JS_FreeRuntime(runtime);
}

int main(void)
{
    uint32_t length;

    while (fread(&length, sizeof(length), 1, stdin) == 1) {
        char *source = malloc((size_t)length + 1);

        if (!source || fread(source, 1, length, stdin) != length)
            fail("the source ends early");
        source[length] = 0;
        serve(source, length);
        free(source);
    }
    return 0;
}
