/* The interpreter comes twice: the build takes `JS_CallInternal` out of QuickJS's source, where it stands once, and puts it
 * back as two functions, with this file in front of the first and `rarely.h` in front of the second. A compiler spreads
 * registers over a function as a whole, so instructions that hardly run cost those that always do.
 *
 * The first keeps the name. It has the instructions of OFTEN, and sees to it that the most frequent sequences need one
 * step in place of several: FUSED_OP_x stands at the beginning of instruction x, and either does what x and its followers
 * do or leaves everything as it was. The second, `run_rarely`, has all instructions and no beginning: it does one for the
 * first, or what follows an exception. Calls are in the first, as far as they go deep: each in the second takes two frames.
 *
 *     pc      the instruction behind this one, or an operand of this one
 *     sp      one past the topmost value, sp[-1]
 */
#define OFTEN(X)                                                                                                       \
    X(push_i32) X(push_const) X(push_const8) X(push_minus1) X(push_0) X(push_1) X(push_2) X(push_3) X(push_4)          \
    X(push_5) X(push_6) X(push_7) X(push_i8) X(push_i16) X(push_atom_value) X(push_empty_string) X(undefined)          \
    X(null) X(push_this) X(push_false) X(push_true) X(drop) X(nip) X(dup) X(dup1) X(dup2) X(insert2) X(insert3)        \
    X(swap) X(call0) X(call1) X(call2) X(call3) X(call) X(call_method) X(tail_call) X(tail_call_method) X(return)      \
    X(return_undef) X(get_var) X(put_var) X(get_loc) X(put_loc) X(set_loc) X(get_loc8) X(put_loc8) X(set_loc8)         \
    X(get_loc0) X(get_loc1) X(get_loc2) X(get_loc3) X(put_loc0) X(put_loc1) X(put_loc2) X(put_loc3) X(set_loc0)        \
    X(set_loc1) X(set_loc2) X(set_loc3) X(get_loc0_loc1) X(get_arg) X(put_arg) X(set_arg) X(get_arg0) X(get_arg1)      \
    X(get_arg2) X(get_arg3) X(put_arg0) X(put_arg1) X(get_var_ref0) X(get_var_ref1) X(get_var_ref2) X(get_var_ref3)    \
    X(put_var_ref0) X(put_var_ref1) X(put_var_ref2) X(put_var_ref3) X(get_var_ref) X(put_var_ref)                      \
    X(get_var_ref_check) X(put_var_ref_check) X(get_loc_check) X(put_loc_check) X(set_loc_uninitialized) X(goto)       \
    X(goto8) X(goto16) X(if_true) X(if_false) X(if_true8) X(if_false8) X(get_field) X(get_field2) X(put_field)         \
    X(get_length) X(get_array_el) X(put_array_el) X(get_array_el2) X(define_field) X(object) X(add) X(sub) X(mul)      \
    X(div) X(mod) X(and) X(or) X(xor) X(shl) X(sar) X(shr) X(not) X(neg) X(plus) X(inc) X(dec) X(post_inc)             \
    X(post_dec) X(inc_loc) X(dec_loc) X(add_loc) X(lt) X(lte) X(gt) X(gte) X(eq) X(neq) X(strict_eq) X(strict_neq)     \
    X(lnot) X(is_undefined_or_null) X(is_undefined) X(is_null) X(to_propkey2) X(for_of_next)                           \
    X(call_constructor) X(apply) X(for_of_start) X(iterator_next) X(iterator_call) X(in)

#define IN_WORD(op, word) (OP_##op / 64 == (word) ? 1ull << OP_##op % 64 : 0)
#define IN_WORD_0(op) | IN_WORD(op, 0)
#define IN_WORD_1(op) | IN_WORD(op, 1)
#define IN_WORD_2(op) | IN_WORD(op, 2)
#define IN_WORD_3(op) | IN_WORD(op, 3)

static const uint64_t often_words[] = { 0 OFTEN(IN_WORD_0), 0 OFTEN(IN_WORD_1), 0 OFTEN(IN_WORD_2), 0 OFTEN(IN_WORD_3) };

/* What one function hands to the other, both ways. The values of the frame itself stay where they are. */
struct interpreter_state {
    uint8_t *pc;
    JSValue *sp;
    JSStackFrame *frame;
    JSValue *locals;
    int argc;
    JSValueConst *argv;
    int flags;
    bool threw; /* nothing is done but what follows an exception */
    bool ended; /* the call is over, and what came back is its result */
};

/* Cold, so that the compiler takes little into it: its frame is there at each call that leads through it. */
__attribute__((cold)) static JSValue run_rarely(JSContext *caller_ctx, struct interpreter_state *state,
                                                JSValueConst func_obj, JSValueConst this_obj, JSValueConst new_target);

#define INTERPRETER_LOCALS                                                                                             \
    int32_t right, result;                                                                                             \
    bool holds;

#define RUN_RARELY(at, has_thrown)                                                                                     \
    do {                                                                                                               \
        struct interpreter_state state = { at, sp, sf, local_buf, argc, argv, flags, has_thrown, false };              \
        ret_val = run_rarely(caller_ctx, &state, func_obj, this_obj, new_target);                                      \
        if (state.ended)                                                                                               \
            return ret_val;                                                                                            \
        pc = state.pc;                                                                                                 \
        sp = state.sp;                                                                                                 \
    } while (0)

#define SWITCH(pc) switch (opcode = *pc++)
#define BREAK break
#define DEFAULT case 2 * 256
/* An instruction is one byte, so that the compiler sees what can never be reached and leaves it out. */
#define CASE(op) case (op) + (often_words[(op) / 64] >> (op) % 64 & 1 ? 0 : 256)
#define OTHERWISE                                                                                                      \
    FUSED_ENDS                                                                                                         \
    default:                                                                                                           \
        RUN_RARELY(pc - 1, false);                                                                                     \
        BREAK;
#define THROWN                                                                                                         \
    RUN_RARELY(pc, true);                                                                                              \
    goto restart;

#define IS_INT(value) (JS_VALUE_GET_TAG(value) == JS_TAG_INT)
#define INT_BELOW JS_VALUE_GET_INT(sp[-1])

/* if (a < b) */
#define FUSED_CMP(binary_op)                                                                                           \
    if (likely(pc[0] == OP_if_false8 && JS_VALUE_IS_BOTH_INT(sp[-2], sp[-1]))) {                                       \
        holds = JS_VALUE_GET_INT(sp[-2]) binary_op INT_BELOW;                                                          \
        sp -= 2;                                                                                                       \
        pc += 2;                                                                                                       \
        goto branch;                                                                                                   \
    }

/* i++ as a statement, and the jump at the end of a loop */
#define FUSED_OP_post_inc                                                                                              \
    if (likely(pc[0] == OP_put_loc_check && pc[3] == OP_drop && IS_INT(sp[-1]) && INT_BELOW != INT32_MAX &&            \
               IS_INT(var_buf[get_u16(pc + 1)]))) {                                                                    \
        var_buf[get_u16(pc + 1)] = js_int32(INT_BELOW + 1);                                                            \
        sp--;                                                                                                          \
        pc += 4;                                                                                                       \
        if (pc[0] == OP_goto8) {                                                                                       \
            pc++;                                                                                                      \
            pc += (int8_t)pc[0];                                                                                       \
            if (unlikely(js_poll_interrupts(ctx)))                                                                     \
                goto exception;                                                                                        \
        }                                                                                                              \
        continue;                                                                                                      \
    }

/* a = b as a statement */
#define FUSED_OP_dup                                                                                                   \
    if (pc[0] == OP_put_loc_check && pc[3] == OP_drop && likely(!JS_IsUninitialized(var_buf[get_u16(pc + 1)]))) {      \
        pc += 4;                                                                                                       \
        set_value(ctx, &var_buf[get_u16(pc - 3)], sp[-1]);                                                             \
        sp--;                                                                                                          \
        continue;                                                                                                      \
    }

/* two variables, one after the other */
#define FUSED_OP_get_loc_check                                                                                         \
    if (pc[2] == OP_get_loc_check && likely(!JS_IsUninitialized(var_buf[get_u16(pc)]))) {                              \
        *sp++ = js_dup(var_buf[get_u16(pc)]);                                                                          \
        pc += 3;                                                                                                       \
    }

/* a number of the source */
#define FUSED_NUMBER(number, length)                                                                                   \
    right = (number);                                                                                                  \
    pc += (length);                                                                                                    \
    goto push_right;
#define FUSED_OP_push_7 FUSED_NUMBER(opcode - OP_push_0, 0) /* and those before it, which run into it */
#define FUSED_OP_push_i8 FUSED_NUMBER(get_i8(pc), 1)
#define FUSED_OP_push_i16 FUSED_NUMBER((int16_t)get_u16(pc), 2)
#define FUSED_OP_push_i32 FUSED_NUMBER((int32_t)get_u32(pc), 4)

#define FUSED_RESULT(op, condition, value)                                                                             \
    case op:                                                                                                           \
        if (!IS_INT(sp[-1]) || !(condition))                                                                           \
            break;                                                                                                     \
        sp[-1] = js_int32(value);                                                                                      \
        pc++;                                                                                                          \
        goto next;
#define FUSED_BRANCH(op, binary_op)                                                                                    \
    case op:                                                                                                           \
        if (pc[1] != OP_if_false8 || !IS_INT(sp[-1]))                                                                  \
            break;                                                                                                     \
        holds = INT_BELOW binary_op right;                                                                             \
        sp--;                                                                                                          \
        pc += 3;                                                                                                       \
        goto branch;

/* What several of the above end in. `a + 1` needs `a` on the stack, which it is if an operator comes next. */
#define FUSED_ENDS                                                                                                     \
    push_right:                                                                                                        \
        switch (pc[0]) {                                                                                               \
            FUSED_RESULT(OP_add, !__builtin_add_overflow(INT_BELOW, right, &result), result)                           \
            FUSED_RESULT(OP_sub, !__builtin_sub_overflow(INT_BELOW, right, &result), result)                           \
            FUSED_RESULT(OP_mul, !__builtin_mul_overflow(INT_BELOW, right, &result) && result != 0, result)            \
            FUSED_RESULT(OP_mod, INT_BELOW >= 0 && right > 0, INT_BELOW % right)                                       \
            FUSED_RESULT(OP_and, true, INT_BELOW & right)                                                              \
            FUSED_BRANCH(OP_lt, <)                                                                                     \
            FUSED_BRANCH(OP_lte, <=)                                                                                   \
            FUSED_BRANCH(OP_gt, >)                                                                                     \
            FUSED_BRANCH(OP_gte, >=)                                                                                   \
            FUSED_BRANCH(OP_eq, ==)                                                                                    \
            FUSED_BRANCH(OP_neq, !=)                                                                                   \
            FUSED_BRANCH(OP_strict_eq, ==)                                                                             \
            FUSED_BRANCH(OP_strict_neq, !=)                                                                            \
        }                                                                                                              \
        *sp++ = js_int32(right);                                                                                       \
    next:                                                                                                              \
        continue;                                                                                                      \
    branch:                                                                                                            \
        if (!holds)                                                                                                    \
            pc += (int8_t)pc[-1] - 1;                                                                                  \
        if (unlikely(js_poll_interrupts(ctx)))                                                                         \
            goto exception;                                                                                            \
        continue;
