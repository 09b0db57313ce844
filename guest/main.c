/* The guest: QuickJS-ng with a host in place of an operating system. One translation unit, so that it reaches the
 * engine's internals. Of its source, the build changes the interpreter (often.h) and the matcher of regular expressions
 * (search.h). This file holds the exports.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "abi.h"
#include "arguments.h"
#include "defence.h"
#include "shortcuts.h"

#include "quickjs.h"
#include "alloc.c"
#include "message.c"
#include "inline.h"
#include "quickjs.c"
#undef vsnprintf

#define STACK_FRAMES 10 /* of an error, unless its program asks for another number */

#define EXPORT(name) __attribute__((export_name(name)))
#define IMPORT(name) __attribute__((import_module(ABI_IMPORT_MODULE), import_name(name)))

IMPORT(ABI_IMPORT_CALL)
uint32_t import_call(const char *name, uint32_t name_length, const uint8_t *arguments, uint32_t length, const char *file,
                     uint32_t file_length, uint32_t line, uint32_t column);
IMPORT(ABI_IMPORT_LOG) void import_log(uint32_t level, const uint8_t *value, uint32_t length);
IMPORT(ABI_IMPORT_NOW) double import_now(uint32_t clock);
IMPORT(ABI_IMPORT_RANDOM) void import_random(void *bytes, uint32_t length);

#include "stop.c"
#include "writer.c"
#include "cut.c"
#include "property.c"
#include "handle.c"
#include "foreign.c"
#include "encode.c"
#include "decode.c"
#include "failure.c"
#include "clock.c"
#include "near.c"
#include "bytecode.c"
#include "callee.c"
#include "error_stack.c"
#include "place.c"
#include "call.c"
#include "reveal.c"
#include "global.c"
#include "module.c"
#include "program.c"
#include "text.c"
#include "sequence.c"
#include "host.c"
#include "url.c"
#include "url_authority.c"
#include "url_write.c"
#include "params.c"
#include "search_params.c"
#include "url_class.c"
#include "encoding.c"
#include "clone.c"
#include "event.c"
#include "event_target.c"
#include "abort.c"
#include "crypto.c"
#include "locale_number.c"
#include "locale_weights.c"
#include "locale_compare.c"
#include "locale_date.c"
#include "describe.c"
#include "table.c"
#include "console_line.c"
#include "console.c"
#include "web.c"

/* ---- exports ---- */

static size_t collected_at; /* bytes in use after the last collection that this file asked for */

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

/* To be called before the inbox is looked at. */
static void inbox_arrive(void)
{
    if (board.inbox_filled)
        inbox_take_small(board.inbox_filled);
    board.inbox_filled = 0;
}

static struct decoder inbox_open(void)
{
    inbox_arrive();
    return (struct decoder){ .at = inbox_slot.bytes, .end = inbox_slot.bytes + inbox_slot.length };
}

EXPORT(ABI_EXPORT_VERSION) int export_version(void)
{
    return ABI_VERSION;
}

EXPORT(ABI_EXPORT_INIT) int export_init(void)
{
    JSValue global;
    int failed;
    struct decoder nothing = { .at = (const uint8_t *)"\0", .end = (const uint8_t *)"\0" + 1 };

    arenas_reserve();
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
    board.inbox = (uint32_t)(uintptr_t)inbox_small;
    global = JS_GetGlobalObject(context);
    clock_init(global);
    failed = handle_class_init() || tools_class_init() || error_stack_init() || modules_init(global);
    JS_FreeValue(context, global);
    if (failed || web_init() || tools_replace(&nothing))
        return STATUS_BAD_MESSAGE;
    JS_RunGC(runtime);
    collected_at = memory.used;
    return leave(STATUS_OK);
}

EXPORT(ABI_EXPORT_INBOX) uint32_t export_inbox(uint32_t length)
{
    return (uint32_t)(uintptr_t)inbox_reserve(length);
}

EXPORT(ABI_EXPORT_CONFIGURE) int export_configure(void)
{
    uint32_t words[CONFIGURE_WORDS];

    inbox_arrive();
    if (inbox_slot.length != sizeof(words))
        return STATUS_BAD_MESSAGE;
    memcpy(words, inbox_slot.bytes, sizeof(words));
    inbox_release();
    memory.bound = words[CONFIGURE_MEMORY];
    memory.limit = memory.bound;
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

/* What cannot be compiled is kept: the program that comes next fails with it. */
EXPORT(ABI_EXPORT_MODULES) int export_modules(void)
{
    struct decoder d = inbox_open();
    int status;

    enter();
    status = modules_take(&d);
    inbox_release();
    if (status)
        set_value(context, &modules_failure, JS_GetException(context));
    return leave(STATUS_OK);
}

/* What an earlier program set for the stacks of errors has no say in this one's. */
static void stacks_reset(void)
{
    set_value(context, &context->error_prepare_stack, JS_UNDEFINED);
    set_value(context, &context->error_stack_trace_limit, JS_NewInt32(context, STACK_FRAMES));
}

/* Stopped, or failed: nothing of it runs any more. */
static bool program_is_over(void)
{
    return (board.stop && STANDS(DEFENCE_STOP_ENDS_JOBS)) ||
           (board.program == PROGRAM_REJECTED && STANDS(DEFENCE_FAILURE_ENDS_JOBS));
}

static void job_drop(JSJobEntry *job)
{
    list_del(&job->link);
    for (int i = 0; i < job->argc; i++)
        JS_FreeValue(context, job->argv[i]);
    js_free(context, job);
}

/* Once the value is known nobody is told of garbage any more: a finalizer that makes garbage would have no end. */
static bool finalizer_drop(void)
{
    JSJobEntry *job = list_entry(runtime->job_list.next, JSJobEntry, link);

    if (board.program != PROGRAM_FULFILLED || job->job_func != js_finrec_job)
        return false;
    job_drop(job);
    return true;
}

/* Runs jobs and due timers until there is none, the slice is over, or the program is. */
static void pump(void)
{
    JSContext *ctx;

    do {
        while (!program_is_over() && !list_empty(&runtime->job_list)) {
            if (finalizer_drop())
                continue;
            if (JS_ExecutePendingJob(runtime, &ctx) < 0)
                failure_add(FAILURE_JOB);
            if (board.yield)
                return;
        }
    } while (!program_is_over() && !board.yield && timer_fire());
}

EXPORT(ABI_EXPORT_START) int export_start(uint32_t number)
{
    int status;

    enter();
    inbox_arrive();
    if (!inbox_slot.bytes || board.program != PROGRAM_NONE)
        return STATUS_BAD_MESSAGE;
    program.number = number;
    board.program = PROGRAM_RUNNING;
    if (STANDS(DEFENCE_STACKS_RESET))
        stacks_reset();
    board.memory_hits = 0;
    memory.limit = memory.bound;
    memory.began_tight = memory_is_tight();
    if (memory.began_tight)
        memory.limit += MEMORY_HEADROOM; /* room for a program that lets go of things, and not once more */
    if (JS_IsUndefined(modules_failure)) {
        status = program_run((const char *)inbox_slot.bytes, inbox_slot.length);
    } else {
        JS_Throw(context, modules_failure);
        modules_failure = JS_UNDEFINED;
        status = -1;
    }
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
    pump();
    return leave(STATUS_OK);
}

EXPORT(ABI_EXPORT_PUMP) int export_pump(void)
{
    enter();
    pump();
    return leave(STATUS_OK);
}

EXPORT(ABI_EXPORT_SETTLE) int export_settle(void)
{
    struct decoder d = inbox_open();
    int status = 0;

    enter();
    while (!status && d.at < d.end && !program_is_over())
        status = answer_one(&d);
    js_free(context, d.seen);
    inbox_release();
    if (status)
        return leave(STATUS_BAD_MESSAGE);
    pump();
    return leave(STATUS_OK);
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

/* The list stays where it is until the next handle is made or freed. */
EXPORT(ABI_EXPORT_FREED) int export_freed(void)
{
    board.out = (uint32_t)(uintptr_t)handles.freed;
    board.out_length = handles.freed_count * (uint32_t)sizeof(*handles.freed);
    handles.freed_count = 0;
    return leave(STATUS_OK);
}

EXPORT(ABI_EXPORT_OUTCOME) int export_outcome(uint32_t which)
{
    struct encoder e = { .mode = ENCODE_SHOW, .max_bytes = limits.result_bytes, .nodes_left = limits.nodes };
    JSValueConst value = program.value;
    JSValue made = JS_UNDEFINED;
    int status;

    enter();
    if (which == OUTCOME_HANGS)
        value = made = program_hangs();
    if (which == OUTCOME_FAILURE) {
        if (!failures.count)
            return STATUS_NOTHING;
        value = failures.list[0].reason;
    }
    if (JS_IsUninitialized(value)) {
        /* Where there is no memory, some functions of the engine fail without an exception. */
        JS_ThrowOutOfMemory(context);
        value = made = JS_GetException(context);
    }
    if (which == OUTCOME_FAILURE || board.program == PROGRAM_REJECTED) {
        /* What was thrown is shown in any case, cut where it is large. */
        e.mode = ENCODE_CLIP;
        e.max_bytes = limits.result_bytes > FAILURE_BYTES ? limits.result_bytes : FAILURE_BYTES;
        status = encode_or_note(&e, value, 0);
    } else {
        status = encode_value(&e, value, 0, NULL);
    }
    JS_FreeValue(context, made);
    if (status)
        status = e.too_large ? STATUS_TOO_LARGE : STATUS_NO_MEMORY;
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

/* Freeing a job may free what somebody asked to be told of, which is another job. */
static void jobs_clear(void)
{
    while (STANDS(DEFENCE_JOBS_DROPPED) && !list_empty(&runtime->job_list))
        job_drop(list_entry(runtime->job_list.next, JSJobEntry, link));
}

/* Whether the next program could do nothing: there is no room to begin it, or this one had room and filled the heap up to
 * the last bit with what stays.
 */
static bool memory_is_spent(void)
{
    return memory_is_full() || (board.memory_hits && !memory.began_tight && memory_is_tight());
}

/* Whether there is an object of one of these classes. */
static bool has_class(int one, int other)
{
    struct list_head *at;

    list_for_each(at, &runtime->gc_obj_list) {
        JSGCObjectHeader *header = list_entry(at, JSGCObjectHeader, link);

        if (js_rc(header)->gc_obj_type == JS_GC_OBJ_TYPE_JS_OBJECT) {
            int class_id = ((JSObject *)header)->class_id;

            if (class_id == one || class_id == other)
                return true;
        }
    }
    return false;
}

/* Whether a program may be told of garbage: what a stopped one left is collected while it still is its own. */
static bool has_finalizers(void)
{
    return has_class(JS_CLASS_FINALIZATION_REGISTRY, JS_CLASS_FINALIZATION_REGISTRY);
}

/* Cycles of garbage are found by a collection alone, and a snapshot would keep them. Looking for them takes a walk over the
 * heap, so it waits until the heap has grown by a quarter, and by no less than this.
 */
#define COLLECT_AFTER (256u * 1024u)

static bool collecting_pays(void)
{
    if (memory.used < collected_at)
        collected_at = memory.used; /* the engine collects by itself, too */
    return memory.used - collected_at >= COLLECT_AFTER + collected_at / 4;
}

static void collect(void)
{
    JS_RunGC(runtime);
    collected_at = memory.used;
}

/* Before the host may take a snapshot in the middle of a program, which is not to notice: a weak reference would tell. */
EXPORT(ABI_EXPORT_COLLECT) int export_collect(void)
{
    enter();
    if (collecting_pays() && !has_class(JS_CLASS_WEAK_REF, JS_CLASS_FINALIZATION_REGISTRY))
        collect();
    return leave(STATUS_OK);
}

/* Drops what belongs to the program: jobs, timers, calls, failures, its value. The heap stays. */
EXPORT(ABI_EXPORT_FINISH) int export_finish(void)
{
    bool over = program_is_over();

    enter();
    board.program = PROGRAM_NONE;
    if (JS_HasException(context))
        drop_exception();
    if (STANDS(DEFENCE_JOBS_DROPPED)) {
        timers_clear();
        calls_clear();
    }
    modules_give_up();
    failures_clear();
    console_finish();
    set_value(context, &modules_failure, JS_UNDEFINED);
    program_forget();
    places_forget();
    js_free(context, outbox.data);
    memset(&outbox, 0, sizeof(outbox));
    board.out = 0;
    board.out_length = 0;
    if (over ? has_finalizers() : collecting_pays() && !has_finalizers())
        collect();
    jobs_clear();
    if (!memory_is_tight() && !board.memory_hits)
        return leave(STATUS_OK);
    collect();
    jobs_clear();
    return leave(memory_is_spent() ? STATUS_NO_MEMORY : STATUS_OK);
}
