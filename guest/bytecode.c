/* Which instruction of a function put a value on its stack: the bytecode is read with the depth of the stack at each
 * instruction, as the engine read it to learn how much stack the function needs. Where the answer is not certain there is
 * none. Nothing here allocates.
 */

#define CODE_STEPS 96   /* instructions before the failing one that are looked at */
#define CODE_LABELS 48  /* jumps ahead that are open at one time */
#define CODE_HOLES 96
#define CODE_PASSES 8   /* as deep as loops may be nested */
#define DEPTH_UNKNOWN -1

struct code_step {
    uint32_t at;
    int32_t depth;       /* of the stack before it */
    uint32_t first_from; /* the jumps that lead here, by the lowest and the highest place they are at */
    uint32_t last_from;
};

struct code {
    const JSFunctionBytecode *body;
    const JSStackFrame *frame;
    struct code_step steps[CODE_STEPS]; /* the last is the one that failed */
    uint32_t count;
};

struct label {
    uint32_t to;
    int32_t depth;
};

/* ---- instructions ---- */

static uint32_t code_size(const JSFunctionBytecode *body, uint32_t at)
{
    uint32_t left = (uint32_t)body->byte_code_len - at;
    uint8_t op = body->byte_code_buf[at];
    uint32_t size = op == OP_invalid || op >= OP_COUNT ? 0 : short_opcode_info(op).size;

    return size <= left ? size : 0;
}

static int32_t code_pops(const uint8_t *code)
{
    const JSOpCode *info = &short_opcode_info(code[0]);
    int32_t pops = info->n_pop;

    if (info->fmt == OP_FMT_npop || info->fmt == OP_FMT_npop_u16)
        pops += get_u16(code + 1);
    else if (info->fmt == OP_FMT_npopx)
        pops += code[0] - OP_call0;
    return pops;
}

static int32_t code_pushes(const uint8_t *code)
{
    return short_opcode_info(code[0]).n_push;
}

/* Where a jump leads and how much deeper the stack is there than behind it; false for what is none. */
static bool code_jump(const uint8_t *code, uint32_t at, uint32_t *to, int32_t *more)
{
    *more = 0;
    switch (code[0]) {
    case OP_gosub:
        *more = 1;
        /* fall through */
    case OP_goto:
    case OP_if_true:
    case OP_if_false:
    case OP_catch:
        *to = at + 1 + get_u32(code + 1);
        return true;
    case OP_goto16:
        *to = at + 1 + (uint32_t)(int16_t)get_u16(code + 1);
        return true;
    case OP_goto8:
    case OP_if_true8:
    case OP_if_false8:
        *to = at + 1 + (uint32_t)(int8_t)code[1];
        return true;
    case OP_with_make_ref:
    case OP_with_get_ref:
    case OP_with_get_ref_undef:
        *more = 2;
        *to = at + 5 + get_u32(code + 5);
        return true;
    case OP_with_get_var:
    case OP_with_delete_var:
        *more = 1;
        *to = at + 5 + get_u32(code + 5);
        return true;
    case OP_with_put_var:
        *more = -1;
        *to = at + 5 + get_u32(code + 5);
        return true;
    default:
        return false;
    }
}

/* Whether the instruction behind this one is reached only by a jump. */
static bool code_ends(uint8_t op)
{
    switch (op) {
    case OP_goto:
    case OP_goto8:
    case OP_goto16:
    case OP_tail_call:
    case OP_tail_call_method:
    case OP_return:
    case OP_return_undef:
    case OP_return_async:
    case OP_throw:
    case OP_throw_error:
    case OP_ret:
    case OP_nip_catch: /* drops more than it says */
        return true;
    default:
        return false;
    }
}

/* ---- the stack at each instruction ---- */

static bool labels_add(struct label *labels, uint32_t *count, uint32_t to, int32_t depth)
{
    for (uint32_t i = 0; i < *count; i++)
        if (labels[i].to == to)
            return labels[i].depth == depth;
    if (*count == CODE_LABELS)
        return false;
    labels[(*count)++] = (struct label){ to, depth };
    return true;
}

/* The depth that jumps from above give this place, if any do; they are no longer open then. */
static int32_t labels_take(struct label *labels, uint32_t *count, uint32_t at, int32_t depth)
{
    for (uint32_t i = 0; i < *count;) {
        if (labels[i].to > at) {
            i++;
            continue;
        }
        if (labels[i].to == at)
            depth = labels[i].depth;
        labels[i] = labels[--*count];
    }
    return depth;
}

static void code_push(struct code *c, uint32_t at, int32_t depth)
{
    if (c->count == CODE_STEPS) {
        memmove(c->steps, c->steps + 1, sizeof(c->steps) - sizeof(c->steps[0]));
        c->count--;
    }
    c->steps[c->count++] = (struct code_step){ .at = at, .depth = depth, .first_from = UINT32_MAX };
}

/* How deep the stack is at a place that no jump from above leads to, if a jump from further down has told it. */
static int32_t hole_depth(struct label *holes, uint32_t *count, uint32_t at)
{
    for (uint32_t i = 0; i < *count; i++)
        if (holes[i].to == at)
            return holes[i].depth;
    if (*count < CODE_HOLES)
        holes[(*count)++] = (struct label){ at, DEPTH_UNKNOWN };
    return DEPTH_UNKNOWN;
}

static bool hole_fill(struct label *holes, uint32_t count, uint32_t to, int32_t depth)
{
    for (uint32_t i = 0; i < count; i++)
        if (holes[i].to == to && holes[i].depth == DEPTH_UNKNOWN) {
            holes[i].depth = depth;
            return true;
        }
    return false;
}

static void code_mark(struct code *c, uint32_t from, uint32_t to)
{
    uint32_t low = 0, high = c->count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (c->steps[middle].at < to)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == c->count || c->steps[low].at != to)
        return;
    if (from < c->steps[low].first_from)
        c->steps[low].first_from = from;
    if (from > c->steps[low].last_from)
        c->steps[low].last_from = from;
}

static bool code_mark_jumps(struct code *c)
{
    uint32_t size, to;
    int32_t more;

    for (uint32_t at = 0; at < (uint32_t)c->body->byte_code_len; at += size) {
        size = code_size(c->body, at);
        if (!size)
            return false;
        if (code_jump(c->body->byte_code_buf + at, at, &to, &more))
            code_mark(c, at, to);
    }
    return true;
}

/* Reads all instructions once, and keeps those up to the one that ends at `end`. What is reached only by a jump from
 * further down, as the body of a loop, is a hole; the jump fills it for the next time. True where one was filled.
 */
static bool code_read_once(struct code *c, uint32_t end, struct label *holes, uint32_t *hole_count)
{
    struct label labels[CODE_LABELS];
    uint32_t at = 0, count = 0, size, to;
    int32_t depth = 0, more;
    bool filled = false;

    c->count = 0;
    for (; at < (uint32_t)c->body->byte_code_len; at += size) {
        const uint8_t *code = c->body->byte_code_buf + at;

        size = code_size(c->body, at);
        if (!size)
            return false;
        depth = labels_take(labels, &count, at, depth);
        if (depth == DEPTH_UNKNOWN)
            depth = hole_depth(holes, hole_count, at);
        if (at < end)
            code_push(c, at, depth);
        if (depth != DEPTH_UNKNOWN) {
            depth += code_pushes(code) - code_pops(code);
            if (depth < 0 || depth > c->body->stack_size)
                return false;
            if (code_jump(code, at, &to, &more)) {
                if (to <= at)
                    filled = hole_fill(holes, *hole_count, to, depth + more) || filled;
                else if (!labels_add(labels, &count, to, depth + more))
                    return false;
            }
        }
        if (code_ends(code[0]))
            depth = DEPTH_UNKNOWN;
    }
    return filled;
}

/* Reads up to the instruction that ends at `end`; false where it cannot be said how deep the stack is there. */
static bool code_read(struct code *c, uint32_t end)
{
    struct label holes[CODE_HOLES];
    uint32_t hole_count = 0;

    for (uint32_t i = 0; i < CODE_PASSES; i++) {
        bool filled = code_read_once(c, end, holes, &hole_count);
        const struct code_step *last;

        if (!c->count)
            return false;
        last = &c->steps[c->count - 1];
        if (last->at + code_size(c->body, last->at) != end)
            return false;
        if (last->depth != DEPTH_UNKNOWN)
            return code_mark_jumps(c) && last->depth >= code_pops(c->body->byte_code_buf + last->at);
        if (!filled)
            return false;
    }
    return false;
}

/* The step with an instruction, among those that were kept. */
static uint32_t code_step_at(const struct code *c, uint32_t at)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->steps[i].at == at)
            return i;
    return c->count;
}

/* Whether control comes to a step behind `first`, up to `last`, only from between the two. */
static bool code_is_one_way(const struct code *c, uint32_t first, uint32_t last)
{
    for (uint32_t i = first + 1; i <= last; i++)
        if (c->steps[i].first_from != UINT32_MAX &&
            (c->steps[i].first_from <= c->steps[first].at || c->steps[i].last_from >= c->steps[last].at))
            return false;
    return true;
}

/* The step that wrote a slot of the stack that is live before `step`; `c->count` where no single one did. */
static uint32_t code_writer(struct code *c, uint32_t step, int32_t slot)
{
    for (uint32_t i = step; i-- > 0;) {
        const uint8_t *code = c->body->byte_code_buf + c->steps[i].at;
        int32_t below = c->steps[i].depth - code_pops(code);

        if (code_ends(code[0])) {
            /* What follows is reached by a jump: go on with where it comes from. */
            uint32_t from = c->steps[i + 1].last_from;

            if (from == c->steps[i].at)
                continue;
            if (from > c->steps[i].at)
                return c->count;
            i = code_step_at(c, from);
            if (i == c->count)
                return c->count;
            i++;
            continue;
        }
        if (c->steps[i].depth == DEPTH_UNKNOWN || below + code_pushes(code) <= slot)
            return c->count;
        if (below <= slot)
            return code_is_one_way(c, i, step) ? i : c->count;
    }
    return c->count;
}
