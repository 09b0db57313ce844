/* Stopping: the board the host reads and writes, the interrupt handler, the stack bound. */

struct board {
    volatile uint32_t stop;
    volatile uint32_t yield;
    uint32_t counter;
    uint32_t program;
    uint32_t jobs;
    uint32_t timers;
    uint32_t intervals;
    uint32_t calls;
    double next_due;
    uint32_t failures;
    uint32_t failure_kind;
    uint32_t out;
    uint32_t out_length;
    uint32_t memory_hits;
    uint32_t heap_bytes;
    uint32_t inbox;
    uint32_t inbox_filled;
};

__attribute__((visibility("default"), used)) struct board board;
_Static_assert(sizeof(struct board) == BOARD_SIZE, "board size");
_Static_assert(offsetof(struct board, next_due) == BOARD_NEXT_DUE, "board layout");
_Static_assert(offsetof(struct board, inbox_filled) == BOARD_INBOX_FILLED, "board layout");

static JSRuntime *runtime;
static JSContext *context;

static struct {
    uint32_t stack;
    uint32_t argument_bytes;
    uint32_t depth;
    uint32_t nodes;
    uint32_t result_bytes;
    uint32_t log_bytes;
} limits = { 384 * 1024, 1 << 20, 512, 1000000, 1 << 20, 64 << 10 };

static int stop_requested(JSRuntime *rt, void *opaque)
{
    (void)rt;
    (void)opaque;
    return board.stop != STOP_NONE;
}

/* First time: room for the error, unless the program began with it. After that the program ends at its next poll. */
static void memory_exhausted(void)
{
    board.memory_hits++;
    if (board.memory_hits == 1 && !memory.began_tight) {
        if (STANDS(DEFENCE_MEMORY_HEADROOM))
            memory.limit += MEMORY_HEADROOM;
        return;
    }
    if (board.program == PROGRAM_NONE || !STANDS(DEFENCE_MEMORY_STOP))
        return;
    if (board.stop == STOP_NONE)
        board.stop = STOP_MEMORY;
    context->interrupt_counter = 1;
}

/* QuickJS sets no stack bound under WASI; the shadow stack pointer at entry is the top. */
static void enter(void)
{
    uintptr_t top = (uintptr_t)__builtin_frame_address(0);

    runtime->stack_top = top;
    runtime->stack_limit = top > limits.stack ? top - limits.stack : 0;
}

static void drop_exception(void)
{
    JS_FreeValue(context, JS_GetException(context));
}
