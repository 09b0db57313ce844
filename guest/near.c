/* Tools that are not there: which one was meant, known when the program calls it. */

/* The last name that was looked up in vain on a namespace of tools, for a call, and where in the program. */
static struct {
    JSStackFrame *frame;
    const uint8_t *after;
    JSAtom name;
    JSObject *space; /* only compared */
} missing;

static JSAtom tools_atom;

#define NEAR_NAME 96

/* Letters and digits in lower case: names in other spellings are equal. */
static uint32_t plain_name(char *plain, const char *name)
{
    uint32_t length = 0;

    for (; *name && length < NEAR_NAME - 1; name++) {
        char c = *name;
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (c != '_' && c != '-' && c != '$' && c != ' ')
            plain[length++] = c;
    }
    plain[length] = 0;
    return length;
}

static uint32_t distance(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
    uint32_t row[NEAR_NAME];

    for (uint32_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (uint32_t i = 1; i <= a_length; i++) {
        uint32_t corner = row[0];

        row[0] = i;
        for (uint32_t j = 1; j <= b_length; j++) {
            uint32_t above = row[j], best = corner + (a[i - 1] != b[j - 1]);

            if (above + 1 < best)
                best = above + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            corner = above;
            row[j] = best;
        }
    }
    return row[b_length];
}

struct nearest {
    char wanted[NEAR_NAME]; /* plain */
    uint32_t length;
    uint32_t best;
    char name[NEAR_NAME]; /* as the program would write it after `tools.` */
    uint32_t count;
};

static bool is_space(JSValueConst value)
{
    return JS_IsObject(value) && JS_VALUE_GET_OBJ(value)->class_id == tools_class;
}

/* The tool or namespace in the place of a property, or undefined; hidden ones are other names of the same. */
static JSValueConst tool_at(JSObject *space, int place)
{
    JSShapeProperty *shape = &get_shape_prop(space->shape)[place];

    if (shape->atom == JS_ATOM_NULL || (shape->flags & JS_PROP_TMASK) != JS_PROP_NORMAL ||
        !(shape->flags & JS_PROP_ENUMERABLE))
        return JS_UNDEFINED;
    return space->prop[place].u.value;
}

/* `prefix` and a name as a path; false if it is too long for a message. */
static bool path_join(char path[NEAR_NAME], const char *prefix, JSAtom name)
{
    const char *text = JS_AtomToCString(context, name);
    int printed = -1;

    if (text)
        printed = snprintf(path, NEAR_NAME, "%s%s", prefix, text);
    else
        drop_exception();
    JS_FreeCString(context, text);
    return printed >= 0 && printed < NEAR_NAME - 1;
}

static void near_look(struct nearest *near, JSObject *space, const char *prefix)
{
    for (int i = 0; i < space->shape->prop_count; i++) {
        JSValueConst tool = tool_at(space, i);
        char path[NEAR_NAME], plain[NEAR_NAME];
        uint32_t length, far;

        if (!JS_IsObject(tool) || !path_join(path, prefix, get_shape_prop(space->shape)[i].atom))
            continue;
        if (is_space(tool)) {
            strcat(path, ".");
            near_look(near, JS_VALUE_GET_OBJ(tool), path);
            continue;
        }
        near->count++;
        length = plain_name(plain, path);
        far = distance(near->wanted, near->length, plain, length);
        if (far < near->best) {
            near->best = far;
            strcpy(near->name, path);
        }
    }
}

/* Where a namespace stands in the tree, with a dot at its end. */
static bool space_path(char found[NEAR_NAME], JSObject *space, JSObject *wanted, const char *prefix)
{
    if (space == wanted) {
        strcpy(found, prefix);
        return true;
    }
    for (int i = 0; i < space->shape->prop_count; i++) {
        JSValueConst tool = tool_at(space, i);
        char path[NEAR_NAME];

        if (!is_space(tool) || !path_join(path, prefix, get_shape_prop(space->shape)[i].atom))
            continue;
        strcat(path, ".");
        if (space_path(found, JS_VALUE_GET_OBJ(tool), wanted, path))
            return true;
    }
    return false;
}

/* Called for a name that a namespace does not have. Only a lookup for a call counts, and not that of `tools.x?.()`. */
static JSValue tools_missing(JSContext *ctx, JSValueConst object, JSAtom name, JSValueConst receiver)
{
    JSStackFrame *frame = runtime->current_stack_frame;
    const uint8_t *after;

    (void)receiver;
    if (!frame || !JS_IsObject(frame->cur_func) || !js_class_has_bytecode(JS_VALUE_GET_OBJ(frame->cur_func)->class_id))
        return JS_UNDEFINED;
    after = frame->cur_pc;
    if (JS_AtomGetKind(ctx, name) == JS_ATOM_KIND_STRING && (after[-5] == OP_get_field2 || after[-1] == OP_get_array_el2) &&
        after[0] != OP_dup && after[0] != OP_is_undefined_or_null) {
        JS_FreeAtom(ctx, missing.name);
        missing.name = JS_DupAtom(ctx, name);
        missing.frame = frame;
        missing.after = after;
        missing.space = JS_VALUE_GET_OBJ(object);
    }
    return JS_UNDEFINED;
}

static void print_path(char *buffer, size_t size, const char *path)
{
    bool plain = !(path[0] >= '0' && path[0] <= '9');

    for (const char *c = path; *c; c++)
        plain = plain && ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_' ||
                          *c == '$' || *c == '.');
    snprintf(buffer, size, plain ? "tools.%s" : "tools[\"%s\"]", path);
}

static bool missing_tool_message(char *buffer, size_t size)
{
    JSStackFrame *frame = runtime->current_stack_frame;
    struct nearest near = { .best = UINT32_MAX };
    char prefix[NEAR_NAME], path[NEAR_NAME], wanted[NEAR_NAME + 16], meant[NEAR_NAME + 16];
    JSProperty *property;
    JSObject *root;

    if (missing.name == JS_ATOM_NULL || !frame || frame != missing.frame || frame->cur_pc <= missing.after)
        return false;
    if (!find_own_property(&property, JS_VALUE_GET_OBJ(context->global_obj), tools_atom))
        return false;
    root = JS_VALUE_GET_OBJ(property->u.value);
    if (!space_path(prefix, root, missing.space, "") || !path_join(path, prefix, missing.name))
        return false;
    JS_FreeAtom(context, missing.name);
    missing.name = JS_ATOM_NULL;
    near.length = plain_name(near.wanted, path);
    near_look(&near, root, "");
    print_path(wanted, sizeof(wanted), path);
    print_path(meant, sizeof(meant), near.name);
    if (near.count && near.best <= (near.length < 6 ? 1 : near.length / 3))
        snprintf(buffer, size, "%s does not exist. Did you mean %s?", wanted, meant);
    else if (near.count)
        snprintf(buffer, size, "%s does not exist. Object.keys(tools) lists what does; one is %s", wanted, meant);
    else
        snprintf(buffer, size, "%s does not exist: this program has no tools", wanted);
    return true;
}

static int tools_class_init(void)
{
    static JSClassExoticMethods exotic = { .get_property = tools_missing };
    static const JSClassDef class = { .class_name = "Object", .exotic = &exotic };

    tools_atom = JS_NewAtom(context, "tools");
    JS_NewClassID(runtime, &tools_class);
    return JS_NewClass(runtime, tools_class, &class);
}
