/* In front of the interpreter's second function: see `often.h`. */
#undef SWITCH
#undef BREAK
#undef DEFAULT
#undef CASE
#undef OP_CMP
#undef INTERPRETER_LOCALS

#define SWITCH(pc) switch (opcode = *pc++)
#define BREAK goto back
#define DEFAULT default
#define CASE(op) case op

#define INTERPRETER_LOCALS                                                                                             \
    int argc = state->argc, flags = state->flags;                                                                      \
    JSValueConst *argv = state->argv;

#define GO_ON                                                                                                          \
    sf = state->frame;                                                                                                 \
    p = JS_VALUE_GET_OBJ(sf->cur_func);                                                                                \
    b = p->u.func.function_bytecode;                                                                                   \
    ctx = b->realm;                                                                                                    \
    var_refs = p->u.func.var_refs;                                                                                     \
    local_buf = state->locals;                                                                                         \
    arg_buf = sf->arg_buf;                                                                                             \
    var_buf = sf->var_buf;                                                                                             \
    stack_buf = var_buf + b->var_count;                                                                                \
    sp = state->sp;                                                                                                    \
    pc = state->pc;                                                                                                    \
    if (state->threw)                                                                                                  \
        goto exception;

#define GO_BACK                                                                                                        \
    back:                                                                                                              \
    state->pc = pc;                                                                                                    \
    state->sp = sp;                                                                                                    \
    return JS_UNDEFINED;
