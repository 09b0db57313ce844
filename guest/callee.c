/* What a program called that is no function, in the program's own words. Where it is not certain, nothing is said. Nothing
 * here allocates or runs code of the program.
 */

#define CALLEE_LINKS 8 /* of a chain like a.b.c */
#define CALLEE_BYTES 160

/* ---- names ---- */

struct callee {
    char text[CALLEE_BYTES];
    uint32_t length;
};

static bool callee_add(struct callee *out, const char *text)
{
    size_t length = strlen(text);

    if (length >= sizeof(out->text) - out->length)
        return false;
    memcpy(out->text + out->length, text, length + 1);
    out->length += (uint32_t)length;
    return true;
}

static bool is_plain_name(const char *name)
{
    const char *c = name;

    for (; *c; c++) {
        bool digit = *c >= '0' && *c <= '9';

        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' || *c == '$' || (uint8_t)*c >= 0x80 ||
              (digit && c != name)))
            return false;
    }
    return c != name;
}

/* A name that is short enough to be whole. */
static bool atom_name(char name[ATOM_GET_STR_BUF_SIZE], JSAtom atom)
{
    if (atom == JS_ATOM_NULL || (!__JS_AtomIsTaggedInt(atom) && JS_AtomGetKind(context, atom) != JS_ATOM_KIND_STRING))
        return false;
    JS_AtomGetStr(context, name, ATOM_GET_STR_BUF_SIZE, atom);
    return strlen(name) < ATOM_GET_STR_BUF_SIZE - 8;
}

static bool callee_variable(struct callee *out, JSAtom atom)
{
    char name[ATOM_GET_STR_BUF_SIZE];

    return atom_name(name, atom) && is_plain_name(name) && callee_add(out, name);
}

static bool callee_property(struct callee *out, JSAtom atom)
{
    char name[ATOM_GET_STR_BUF_SIZE];

    if (!atom_name(name, atom))
        return false;
    if (is_plain_name(name))
        return callee_add(out, ".") && callee_add(out, name);
    return !strpbrk(name, "\"\\\n\r") && callee_add(out, "[\"") && callee_add(out, name) && callee_add(out, "\"]");
}

/* The variable that an instruction reads: its name, or null. */
static JSAtom code_variable(const JSFunctionBytecode *b, const uint8_t *code)
{
    uint32_t index;

    switch (code[0]) {
    case OP_get_var:
    case OP_get_var_undef:
        return get_u32(code + 1);
    case OP_get_loc:
    case OP_get_loc_check:
        index = get_u16(code + 1);
        break;
    case OP_get_loc8:
        index = code[1];
        break;
    case OP_get_loc0:
    case OP_get_loc1:
    case OP_get_loc2:
    case OP_get_loc3:
        index = (uint32_t)(code[0] - OP_get_loc0);
        break;
    case OP_get_arg:
        index = get_u16(code + 1);
        return index < b->arg_count ? b->vardefs[index].var_name : JS_ATOM_NULL;
    case OP_get_arg0:
    case OP_get_arg1:
    case OP_get_arg2:
    case OP_get_arg3:
        index = (uint32_t)(code[0] - OP_get_arg0);
        return index < b->arg_count ? b->vardefs[index].var_name : JS_ATOM_NULL;
    case OP_get_var_ref:
    case OP_get_var_ref_check:
        index = get_u16(code + 1);
        return index < b->closure_var_count ? b->closure_var[index].var_name : JS_ATOM_NULL;
    case OP_get_var_ref0:
    case OP_get_var_ref1:
    case OP_get_var_ref2:
    case OP_get_var_ref3:
        index = (uint32_t)(code[0] - OP_get_var_ref0);
        return index < b->closure_var_count ? b->closure_var[index].var_name : JS_ATOM_NULL;
    default:
        return JS_ATOM_NULL;
    }
    return index < b->var_count ? b->vardefs[b->arg_count + index].var_name : JS_ATOM_NULL;
}

static bool code_slot(struct callee *out, struct code *c, uint32_t step, int32_t slot, int links);

/* The object of a chain; what has no simple name is an intermediate value. */
static bool code_object(struct callee *out, struct code *c, uint32_t step, int32_t slot, int links)
{
    struct callee before = *out;

    if (links > 0 && code_slot(out, c, step, slot, links - 1))
        return true;
    *out = before;
    return callee_add(out, "(intermediate value)");
}

/* `[i]` for a variable or a small number, else `[...]`. */
static bool code_index(struct callee *out, struct code *c, uint32_t step, int32_t slot)
{
    struct callee before = *out;
    uint32_t writer = code_writer(c, step, slot);

    if (writer < c->count && callee_add(out, "[")) {
        const uint8_t *code = c->body->byte_code_buf + c->steps[writer].at;
        char number[8];

        if (code[0] == OP_push_atom_value) {
            *out = before;
            return callee_property(out, get_u32(code + 1));
        }
        snprintf(number, sizeof(number), "%d", code[0] - OP_push_0);
        if ((code[0] >= OP_push_0 && code[0] <= OP_push_7 ? callee_add(out, number)
                                                          : callee_variable(out, code_variable(c->body, code))) &&
            callee_add(out, "]"))
            return true;
    }
    *out = before;
    return callee_add(out, "[...]");
}

/* Writes what a slot of the stack holds before `step`, as the program wrote it; false where it is not simple. */
static bool code_slot(struct callee *out, struct code *c, uint32_t step, int32_t slot, int links)
{
    uint32_t writer = code_writer(c, step, slot);
    const uint8_t *code;
    int32_t depth, calls, local;

    if (writer >= c->count)
        return false;
    code = c->body->byte_code_buf + c->steps[writer].at;
    depth = c->steps[writer].depth;
    switch (code[0]) {
    case OP_push_this:
        return callee_add(out, "this");
    case OP_get_loc0_loc1:
        local = slot - depth;
        return local < c->body->var_count &&
               callee_variable(out, c->body->vardefs[c->body->arg_count + local].var_name);
    case OP_dup:
        return links > 0 && code_slot(out, c, writer, depth - 1, links - 1);
    case OP_perm3: /* of a call with spread arguments: obj f list */
        if (slot == depth - 1)
            return false;
        return links > 0 && code_slot(out, c, writer, slot == depth - 3 ? depth - 2 : depth - 3, links - 1);
    case OP_get_field2:
        if (slot == depth - 1)
            return links > 0 && code_slot(out, c, writer, slot, links - 1);
        /* fall through */
    case OP_get_field:
        return code_object(out, c, writer, depth - 1, links) && callee_property(out, get_u32(code + 1));
    case OP_get_length:
        return code_object(out, c, writer, depth - 1, links) && callee_add(out, ".length");
    case OP_get_array_el2:
        if (slot == depth - 2)
            return links > 0 && code_slot(out, c, writer, slot, links - 1);
        /* fall through */
    case OP_get_array_el:
        return code_object(out, c, writer, depth - 2, links) && code_index(out, c, writer, depth - 1);
    case OP_call:
    case OP_call0:
    case OP_call1:
    case OP_call2:
    case OP_call3:
    case OP_call_method:
        calls = code_pops(code) - short_opcode_info(code[0]).n_pop;
        return links > 0 && code_slot(out, c, writer, depth - calls - 1, links - 1) && callee_add(out, "(...)");
    default:
        return callee_variable(out, code_variable(c->body, code));
    }
}

/* ---- messages ---- */

/* Reads the frame that runs; its last step is then the instruction that failed. */
static bool code_of_frame(struct code *c)
{
    JSStackFrame *frame = runtime->current_stack_frame;

    memset(c, 0, sizeof(*c));
    if (!frame || !frame->cur_pc || !JS_IsObject(frame->cur_func) ||
        !js_class_has_bytecode(JS_VALUE_GET_OBJ(frame->cur_func)->class_id))
        return false;
    c->frame = frame;
    c->body = JS_VALUE_GET_OBJ(frame->cur_func)->u.func.function_bytecode;
    return frame->cur_pc > c->body->byte_code_buf && frame->cur_pc <= c->body->byte_code_buf + c->body->byte_code_len &&
           code_read(c, (uint32_t)(frame->cur_pc - c->body->byte_code_buf));
}

/* The slot of what a call calls, and whether it is made with `new`; -1 for another instruction. */
static int32_t callee_slot(const uint8_t *code, int32_t depth, bool *constructs)
{
    *constructs = code[0] == OP_call_constructor || (code[0] == OP_apply && get_u16(code + 1) == 1);
    switch (code[0]) {
    case OP_call:
    case OP_tail_call:
    case OP_call0:
    case OP_call1:
    case OP_call2:
    case OP_call3:
        return depth - code_pops(code);
    case OP_call_method:
    case OP_tail_call_method:
        return depth - code_pops(code) + 1;
    case OP_call_constructor:
        return depth - code_pops(code);
    case OP_apply:
        return depth - 3;
    default:
        return -1;
    }
}

/* The text for a call of what is no function or constructor. */
static bool callee_message(char *buffer, size_t size)
{
    struct code c;
    struct callee out = { 0 };
    uint32_t last;
    int32_t slot;
    bool constructs;
    JSValueConst called;

    if (!code_of_frame(&c))
        return false;
    last = c.count - 1;
    slot = callee_slot(c.body->byte_code_buf + c.steps[last].at, c.steps[last].depth, &constructs);
    if (slot < 0 || slot >= c.body->stack_size)
        return false;
    /* Else it is not this call that failed, but what the engine does for it, as with the handler of a proxy. */
    called = c.frame->var_buf[c.body->var_count + slot];
    if (constructs ? JS_IsConstructor(context, called) : JS_IsFunction(context, called))
        return false;
    if (!code_slot(&out, &c, last, slot, CALLEE_LINKS))
        return false;
    snprintf(buffer, size, constructs ? "%s is not a constructor" : "%s is not a function", out.text);
    return true;
}

/* A pattern comes before its value in the bytecode, behind a test that never fails for a value of its own: the end of the
 * jump that leads back to the pattern, or 0 where the last step is no pattern's.
 */
static uint32_t pattern_value(const struct code *c)
{
    const struct code_step *steps = &c->steps[c->count - 1];
    const uint8_t *code = c->body->byte_code_buf;

    if (c->count < 5 || code[steps[-4].at] != OP_undefined || code[steps[-3].at] != OP_dup ||
        code[steps[-2].at] != OP_is_undefined || (code[steps[-1].at] != OP_if_true && code[steps[-1].at] != OP_if_true8))
        return 0;
    if (steps->first_from != steps->last_from || steps->last_from <= steps->at)
        return 0;
    return steps->last_from + code_size(c->body, steps->last_from);
}

/* The text for a loop, a spread or a pattern over what has no values to go through. */
static bool iterable_message(char *buffer, size_t size, const char *otherwise)
{
    struct code c;
    struct callee out = { 0 };
    uint32_t value;
    int32_t slot;
    uint8_t op;

    if (!code_of_frame(&c))
        return false;
    op = c.body->byte_code_buf[c.steps[c.count - 1].at];
    if (op != OP_for_of_start && op != OP_for_await_of_start && op != OP_append)
        return false;
    slot = c.steps[c.count - 1].depth - 1;
    value = pattern_value(&c);
    if ((!value || code_read(&c, value)) && code_slot(&out, &c, c.count - 1, slot, CALLEE_LINKS))
        otherwise = out.text;
    if (!otherwise)
        return false;
    snprintf(buffer, size, op == OP_for_await_of_start ? "%s is not async iterable" : "%s is not iterable", otherwise);
    return true;
}
