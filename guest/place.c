/* Where in its text a program makes a call. Nothing here allocates or runs code of the program. */

#define PLACE_FILE 256 /* bytes of a file's name, with the zero at its end; a longer one is cut */

struct place {
    char file[PLACE_FILE];
    uint32_t line; /* 0 where no JavaScript called, as with a reaction of a promise that is a tool itself */
    uint32_t column;
};

/* The innermost frame of JavaScript: those of the tool and of functions like `map` that call it are the engine's own. */
static void place_of_caller(struct place *place)
{
    place->file[0] = 0;
    place->line = 0;
    place->column = 0;
    for (const JSStackFrame *frame = runtime->current_stack_frame; frame; frame = frame->prev_frame) {
        JSFunctionBytecode *code;
        int line, column;

        if (!frame->cur_pc || !JS_IsObject(frame->cur_func) ||
            !js_class_has_bytecode(JS_VALUE_GET_OBJ(frame->cur_func)->class_id))
            continue;
        code = JS_VALUE_GET_OBJ(frame->cur_func)->u.func.function_bytecode;
        line = find_line_num(context, code, (uint32_t)(frame->cur_pc - code->byte_code_buf - 1), &column);
        if (line <= 0 || column <= 0)
            return;
        JS_AtomGetStr(context, place->file, sizeof(place->file), code->filename);
        place->line = (uint32_t)line;
        place->column = (uint32_t)column;
        return;
    }
}
