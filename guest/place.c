/* Where in its text a program makes a call. Nothing here allocates or runs code of the program. */

#define PLACE_FILE 256 /* bytes of a file's name, with the zero at its end; a longer one is cut */
#define PLACE_SITES 16

struct place {
    char file[PLACE_FILE];
    uint32_t line; /* 0 where no JavaScript called, as with a reaction of a promise that is a tool itself */
    uint32_t column;
};

/* Calls that were made last, since finding a line takes a walk over the function. */
static struct place_site {
    JSFunctionBytecode *code; /* held until `places_forget` */
    uint32_t at;
    int line;
    int column;
} place_sites[PLACE_SITES];

static void place_site_free(struct place_site *site)
{
    JSFunctionBytecode *code = site->code;

    site->code = NULL;
    if (code)
        JS_FreeValue(context, JS_MKPTR(JS_TAG_FUNCTION_BYTECODE, code));
}

static const struct place_site *place_site(JSFunctionBytecode *code, uint32_t at)
{
    struct place_site *site = &place_sites[((uintptr_t)code / 16 + at) % PLACE_SITES];

    if (site->code == code && site->at == at)
        return site;
    place_site_free(site);
    site->line = find_line_num(context, code, at, &site->column);
    site->at = at;
    site->code = JS_VALUE_GET_PTR(js_dup(JS_MKPTR(JS_TAG_FUNCTION_BYTECODE, code)));
    return site;
}

static void places_forget(void)
{
    for (uint32_t i = 0; i < PLACE_SITES; i++)
        place_site_free(&place_sites[i]);
}

/* The innermost frame of JavaScript: those of the tool and of functions like `map` that call it are the engine's own. */
static void place_of_caller(struct place *place)
{
    place->file[0] = 0;
    place->line = 0;
    place->column = 0;
    for (const JSStackFrame *frame = runtime->current_stack_frame; frame; frame = frame->prev_frame) {
        const struct place_site *site;
        JSFunctionBytecode *code;

        if (!frame->cur_pc || !JS_IsObject(frame->cur_func) ||
            !js_class_has_bytecode(JS_VALUE_GET_OBJ(frame->cur_func)->class_id))
            continue;
        code = JS_VALUE_GET_OBJ(frame->cur_func)->u.func.function_bytecode;
        site = place_site(code, (uint32_t)(frame->cur_pc - code->byte_code_buf - 1));
        if (site->line <= 0 || site->column <= 0)
            return;
        JS_AtomGetStr(context, place->file, sizeof(place->file), code->filename);
        place->line = (uint32_t)site->line;
        place->column = (uint32_t)site->column;
        return;
    }
}
