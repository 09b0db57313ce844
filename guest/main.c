/* The guest: QuickJS-ng with a host in place of an operating system. One translation unit, so that it reaches the
 * engine's internals without a patched source file. This file holds the exports and the program's life.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"

#include "quickjs.h"
#include "alloc.c"
#include "quickjs.c"
#include "prelude.js.h"

/* From here on the code is ours: warnings are errors. */
#pragma clang diagnostic error "-Wall"
#pragma clang diagnostic error "-Wextra"

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(name) __attribute__((import_module(ABI_IMPORT_MODULE), import_name(name)))

IMPORT(ABI_IMPORT_CALL)
uint32_t import_call(const char *name, uint32_t name_length, const uint8_t *arguments, uint32_t length);
IMPORT(ABI_IMPORT_LOG) void import_log(uint32_t level, const uint8_t *value, uint32_t length);
IMPORT(ABI_IMPORT_NOW) double import_now(uint32_t clock);
IMPORT(ABI_IMPORT_RANDOM) void import_random(void *bytes, uint32_t length);

static void failure_add(uint32_t kind);

#include "stop.c"
#include "value.c"
#include "clock.c"
#include "call.c"

/* ---- failures outside the program's own promise ---- */

struct failure {
    uint32_t kind;
    JSValue promise; /* undefined unless a rejection */
    JSValue reason;
};

static struct {
    struct failure *list;
    uint32_t count;
    uint32_t capacity;
} failures;

static void failure_push(uint32_t kind, JSValueConst promise, JSValue reason)
{
    if (failures.count == failures.capacity) {
        uint32_t capacity = failures.capacity ? failures.capacity * 2 : 8;
        struct failure *moved = js_realloc(context, failures.list, capacity * sizeof(*moved));
        if (!moved) {
            drop_exception();
            JS_FreeValue(context, reason);
            return;
        }
        failures.list = moved;
        failures.capacity = capacity;
    }
    failures.list[failures.count].kind = kind;
    failures.list[failures.count].promise = js_dup(promise);
    failures.list[failures.count++].reason = reason;
}

/* Takes the current exception. A stop is not an exception: the host's own flag decides what it means. */
static void failure_add(uint32_t kind)
{
    if (JS_IsUncatchableError(runtime->current_exception) || board.stop)
        drop_exception();
    else
        failure_push(kind, JS_UNDEFINED, JS_GetException(context));
}

static void failure_remove(uint32_t index)
{
    JS_FreeValue(context, failures.list[index].promise);
    JS_FreeValue(context, failures.list[index].reason);
    memmove(&failures.list[index], &failures.list[index + 1],
            (failures.count - index - 1) * sizeof(*failures.list));
    failures.count--;
}

static void rejection_tracked(JSContext *ctx, JSValueConst promise, JSValueConst reason, bool is_handled, void *opaque)
{
    (void)ctx;
    (void)opaque;
    if (!is_handled) {
        if (!board.stop)
            failure_push(FAILURE_REJECTION, promise, js_dup(reason));
        return;
    }
    for (uint32_t i = 0; i < failures.count; i++) {
        if (JS_IsObject(failures.list[i].promise) &&
            JS_VALUE_GET_OBJ(failures.list[i].promise) == JS_VALUE_GET_OBJ(promise)) {
            failure_remove(i);
            return;
        }
    }
}

static void failures_clear(void)
{
    while (failures.count)
        failure_remove(failures.count - 1);
    js_free(context, failures.list);
    memset(&failures, 0, sizeof(failures));
}

/* ---- the program ---- */

static struct {
    uint32_t number;
    JSValue value; /* its value, or the reason of its rejection */
} program = { 0, JS_UNDEFINED };

static JSValue program_settled(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                               JSValueConst *data);

/* Functions of ours that are told how a promise ended; bound to the program, so that a late one is ignored. */
static int program_handlers(JSValue handlers[2], int wrapped)
{
    JSValue number = JS_NewUint32(context, program.number);

    for (int i = 0; i < 2; i++)
        handlers[i] = JS_NewCFunctionData(context, program_settled, 1, i | wrapped, 1, vc(&number));
    return JS_IsException(handlers[0]) || JS_IsException(handlers[1]) ? -1 : 0;
}

#define SETTLED_REJECTED 1
#define SETTLED_WRAPPED 2

static void program_end(uint32_t state, JSValueConst value)
{
    set_value(context, &program.value, js_dup(value));
    board.program = state;
}

/* The value of a program that is a promise is awaited, by the engine's own then. */
static int program_await(JSValueConst promise)
{
    JSValue handlers[2];
    JSValueConst nothing[2] = { JS_UNDEFINED, JS_UNDEFINED };
    int status = program_handlers(handlers, 0);

    if (!status)
        status = perform_promise_then(context, promise, vc(handlers), nothing);
    JS_FreeValue(context, handlers[0]);
    JS_FreeValue(context, handlers[1]);
    return status;
}

static JSValue program_settled(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int magic,
                               JSValueConst *data)
{
    JSValueConst value = argc > 0 ? argv[0] : JS_UNDEFINED;
    uint32_t number;

    (void)this_value;
    JS_ToUint32(ctx, &number, data[0]);
    if (number != program.number || board.program != PROGRAM_RUNNING)
        return JS_UNDEFINED;
    if (magic & SETTLED_REJECTED) {
        program_end(PROGRAM_REJECTED, value);
        return JS_UNDEFINED;
    }
    if (magic & SETTLED_WRAPPED) {
        JSProperty *property;
        bool found = JS_IsObject(value) && find_own_property(&property, JS_VALUE_GET_OBJ(value), JS_ATOM_value);
        value = found ? property->u.value : JS_UNDEFINED;
    }
    if (JS_IsPromise(value))
        return program_await(value) ? JS_EXCEPTION : JS_UNDEFINED;
    program_end(PROGRAM_FULFILLED, value);
    return JS_UNDEFINED;
}

/* A name that an earlier program declared may be declared again. */
static void unbind(JSAtom name, int flags)
{
    JSObject *global = JS_VALUE_GET_OBJ(context->global_obj);
    JSShapeProperty *property;

    delete_property(context, JS_VALUE_GET_OBJ(context->global_var_obj), name);
    if (!(flags & DEFINE_GLOBAL_LEX_VAR))
        return;
    property = find_own_property1(global, name);
    /* A `var` or function of an earlier program; undefined, NaN, Infinity and tools are not writable. */
    if (property && !(property->flags & JS_PROP_CONFIGURABLE) && (property->flags & JS_PROP_WRITABLE) &&
        (property->flags & JS_PROP_ENUMERABLE) && !js_shape_prepare_update(context, global, &property)) {
        property->flags |= JS_PROP_CONFIGURABLE;
        delete_property(context, global, name);
    }
}

/* Walks the compiled program: unbinds the names that it declares, and makes the object that carries its value be
 * filled by definition, since an assignment would meet a setter that the program put on Object.prototype. */
static void prepare_bytecode(JSFunctionBytecode *code)
{
    uint8_t *at = code->byte_code_buf, *end = at + code->byte_code_len;

    while (at < end) {
        int size = short_opcode_info(*at).size;

        if (*at == OP_check_define_var)
            unbind(get_u32(at + 1), at[5]);
        else if (*at == OP_put_field && get_u32(at + 1) == JS_ATOM_value && at + size < end &&
                 at[size] == OP_return_async)
            *at = OP_define_field;
        at += size;
    }
}

/* As the engine's call of an async function, with our handlers in place of a promise's. */
static int program_call(JSValueConst function)
{
    JSAsyncFunctionData *data = js_mallocz(context, sizeof(*data));
    bool alive = false;

    if (!data)
        return -1;
    JS_REF_COUNT(data) = 1;
    add_gc_object(runtime, &data->header, JS_GC_OBJ_TYPE_ASYNC_FUNCTION);
    data->is_active = false;
    data->resolving_funcs[0] = JS_UNDEFINED;
    data->resolving_funcs[1] = JS_UNDEFINED;
    if (!program_handlers(data->resolving_funcs, SETTLED_WRAPPED) &&
        !async_func_init(context, &data->func_state, function, context->global_obj, 0, NULL)) {
        data->is_active = true;
        data->func_state.frame.cur_gc_obj = &data->header;
        alive = js_async_function_resume(context, data);
    }
    js_async_function_free(runtime, data);
    return alive ? 0 : -1;
}

static int program_run(const char *source, uint32_t length)
{
    char file[32];
    JSValue code, function;
    int status;

    snprintf(file, sizeof(file), "program-%u.js", program.number);
    code = JS_EvalInternal(context, context->global_obj, source, length, file, 1,
                           JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_ASYNC | JS_EVAL_FLAG_COMPILE_ONLY, -1);
    if (JS_IsException(code))
        return -1;
    prepare_bytecode(JS_VALUE_GET_PTR(code));
    function = js_closure(context, code, NULL, NULL);
    if (JS_IsException(function))
        return -1;
    status = program_call(function);
    JS_FreeValue(context, function);
    return status;
}

/* ---- exports ---- */

static int leave(int status)
{
    timers_report();
    board.jobs = !list_empty(&runtime->job_list);
    board.calls = calls.count;
    board.failures = failures.count;
    board.failure_kind = failures.count ? failures.list[0].kind : 0;
    board.heap_bytes = (uint32_t)memory.used;
    return status;
}

static struct decoder inbox_open(void)
{
    struct decoder d = { .at = inbox_slot.bytes, .end = inbox_slot.bytes + inbox_slot.length };
    return d;
}

static const char *const levels[] = { "log", "info", "debug", "warn", "error" };

static JSValue console_write(JSContext *ctx, JSValueConst this_value, int argc, JSValueConst *argv, int level)
{
    struct encoder e = { .mode = ENCODE_CLIP, .max_bytes = limits.log_bytes, .nodes_left = limits.nodes };
    int failed = put_byte(&e, TAG_ARRAY) || put_varint(&e, (uint32_t)argc);

    (void)ctx;
    (void)this_value;
    for (int i = 0; !failed && i < argc; i++) {
        uint32_t before = e.out.length;
        if (!encode_value(&e, argv[i], 1, NULL))
            continue;
        /* Too large for what is left: a note in its place. */
        if (!e.too_large)
            drop_exception();
        e.out.length = before;
        e.max_bytes += 32;
        failed = put_tagged_text(&e, TAG_DESCRIPTION, "[too large to show]");
    }
    if (!failed)
        import_log((uint32_t)level, e.out.data, e.out.length);
    encoder_free(&e);
    return JS_UNDEFINED;
}

static int run_prelude(void)
{
    JSValue host = JS_NewObjectProto(context, JS_NULL), setup, result;

    for (uint32_t i = 0; i < countof(levels); i++)
        JS_DefinePropertyValueStr(context, host, levels[i],
                                  JS_NewCFunctionMagic(context, console_write, levels[i], 0, JS_CFUNC_generic_magic, (int)i),
                                  JS_PROP_C_W_E);
    JS_DefinePropertyValueStr(context, host, "now", JS_NewCFunction(context, performance_now, "now", 0), JS_PROP_C_W_E);
    setup = JS_Eval(context, (const char *)prelude_js, prelude_js_length, "prelude.js", JS_EVAL_TYPE_GLOBAL);
    result = JS_Call(context, setup, JS_UNDEFINED, 1, vc(&host));
    JS_FreeValue(context, setup);
    JS_FreeValue(context, host);
    return JS_IsException(result) ? -1 : 0;
}

EXPORT(ABI_EXPORT_VERSION) int export_version(void)
{
    return ABI_VERSION;
}

EXPORT(ABI_EXPORT_INIT) int export_init(void)
{
    JSValue global;
    struct decoder nothing = { .at = (const uint8_t *)"\0", .end = (const uint8_t *)"\0" + 1 };

    runtime = JS_NewRuntime2(&memory_functions, NULL);
    if (!runtime)
        return STATUS_NO_MEMORY;
    context = JS_NewContext(runtime);
    if (!context)
        return STATUS_NO_MEMORY;
    enter();
    JS_SetInterruptHandler(runtime, stop_requested, NULL);
    JS_SetHostPromiseRejectionTracker(runtime, rejection_tracked, NULL);
    board.counter = (uint32_t)(uintptr_t)&context->interrupt_counter;
    global = JS_GetGlobalObject(context);
    clock_init(global);
    JS_FreeValue(context, global);
    if (run_prelude() || tools_replace(&nothing))
        return STATUS_BAD_MESSAGE;
    JS_RunGC(runtime);
    return leave(STATUS_OK);
}

EXPORT(ABI_EXPORT_INBOX) uint32_t export_inbox(uint32_t length)
{
    return (uint32_t)(uintptr_t)inbox_reserve(length);
}

EXPORT(ABI_EXPORT_CONFIGURE) int export_configure(void)
{
    uint32_t words[CONFIGURE_WORDS];

    if (inbox_slot.length != sizeof(words))
        return STATUS_BAD_MESSAGE;
    memcpy(words, inbox_slot.bytes, sizeof(words));
    inbox_release();
    memory.limit = words[CONFIGURE_MEMORY];
    limits.stack = words[CONFIGURE_STACK];
    limits.argument_bytes = words[CONFIGURE_ARGUMENT_BYTES];
    limits.depth = words[CONFIGURE_DEPTH];
    limits.nodes = words[CONFIGURE_NODES];
    limits.result_bytes = words[CONFIGURE_RESULT_BYTES];
    limits.log_bytes = words[CONFIGURE_LOG_BYTES];
    return STATUS_OK;
}

EXPORT(ABI_EXPORT_TOOLS) int export_tools(void)
{
    struct decoder d = inbox_open();
    int status;

    enter();
    status = tools_replace(&d);
    inbox_release();
    if (status)
        drop_exception();
    return leave(status ? STATUS_NO_MEMORY : STATUS_OK);
}

EXPORT(ABI_EXPORT_START) int export_start(uint32_t number)
{
    int status;

    enter();
    if (!inbox_slot.bytes || board.program != PROGRAM_NONE)
        return STATUS_BAD_MESSAGE;
    program.number = number;
    board.program = PROGRAM_RUNNING;
    board.memory_hits = 0;
    status = program_run((const char *)inbox_slot.bytes, inbox_slot.length);
    inbox_release();
    if (status) {
        if (JS_IsUncatchableError(runtime->current_exception) || board.stop) {
            drop_exception();
        } else {
            JSValue reason = JS_GetException(context);
            program_end(PROGRAM_REJECTED, reason);
            JS_FreeValue(context, reason);
        }
    }
    return leave(STATUS_OK);
}

EXPORT(ABI_EXPORT_PUMP) int export_pump(void)
{
    JSContext *ctx;

    enter();
    do {
        while (!board.stop && !list_empty(&runtime->job_list)) {
            if (JS_ExecutePendingJob(runtime, &ctx) < 0)
                failure_add(FAILURE_JOB);
            if (board.yield)
                return leave(STATUS_OK);
        }
    } while (!board.stop && !board.yield && timer_fire());
    return leave(STATUS_OK);
}

EXPORT(ABI_EXPORT_SETTLE) int export_settle(void)
{
    struct decoder d = inbox_open();
    int status = 0;

    enter();
    while (!status && d.at < d.end)
        status = answer_one(&d);
    js_free(context, d.seen);
    inbox_release();
    return leave(status ? STATUS_BAD_MESSAGE : STATUS_OK);
}

EXPORT(ABI_EXPORT_LOOSE) int export_loose(void)
{
    enter();
    if (calls_loose()) {
        drop_exception();
        return leave(STATUS_NO_MEMORY);
    }
    board.out = (uint32_t)(uintptr_t)outbox.data;
    board.out_length = outbox.length;
    return leave(STATUS_OK);
}

EXPORT(ABI_EXPORT_OUTCOME) int export_outcome(uint32_t which)
{
    struct encoder e = { .mode = ENCODE_SHOW, .max_bytes = limits.result_bytes, .nodes_left = limits.nodes };
    JSValueConst value = program.value;
    int status;

    enter();
    if (which == OUTCOME_FAILURE) {
        if (!failures.count)
            return STATUS_NOTHING;
        value = failures.list[0].reason;
    }
    status = encode_value(&e, value, 0, NULL) ? (e.too_large ? STATUS_TOO_LARGE : STATUS_NO_MEMORY) : STATUS_OK;
    if (JS_HasException(context))
        drop_exception();
    js_free(context, outbox.data);
    outbox = e.out;
    memset(&e.out, 0, sizeof(e.out));
    encoder_free(&e);
    board.out = (uint32_t)(uintptr_t)outbox.data;
    board.out_length = outbox.length;
    return leave(status);
}

static void jobs_clear(void)
{
    struct list_head *at, *next;

    list_for_each_safe(at, next, &runtime->job_list) {
        JSJobEntry *job = list_entry(at, JSJobEntry, link);
        list_del(&job->link);
        for (int i = 0; i < job->argc; i++)
            JS_FreeValue(context, job->argv[i]);
        js_free(context, job);
    }
}

/* Drops what belongs to the program: jobs, timers, calls, failures, its value. The heap stays. */
EXPORT(ABI_EXPORT_FINISH) int export_finish(void)
{
    enter();
    board.program = PROGRAM_NONE;
    if (JS_HasException(context))
        drop_exception();
    jobs_clear();
    timers_clear();
    calls_clear();
    failures_clear();
    set_value(context, &program.value, JS_UNDEFINED);
    js_free(context, outbox.data);
    memset(&outbox, 0, sizeof(outbox));
    board.out = 0;
    board.out_length = 0;
    return leave(STATUS_OK);
}
