/* Failures outside the program's own promise: rejections that nobody handled, errors in timers and microtasks. They are
 * kept until the program's end, since a rejection may still be handled.
 */

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
