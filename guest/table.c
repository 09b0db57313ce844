/* The text of `console.table`: a box of rows and columns, as Node draws it. Reading the data runs no code of the
 * program. Rows, columns and the text of a cell are bounded.
 */

#define TABLE_ROWS 1000
#define TABLE_COLUMNS 50
#define TABLE_CELL 200 /* characters */

struct cell {
    uint32_t start;
    uint32_t length;
    uint32_t width;
};

struct table {
    struct bytes text;  /* of all cells, one after the other */
    struct cell *cells; /* `width` of them a row, the head first */
    uint32_t width;
    uint32_t rows;      /* with the head */
    uint32_t left_out;  /* rows */
};

struct columns {
    JSAtom names[TABLE_COLUMNS];
    uint32_t count;
    bool has_values;
};

/* ---- how wide a text is ---- */

static bool is_in_any(uint32_t code, const uint32_t (*ranges)[2], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1])
            return true;
    return false;
}

static uint32_t width_of(uint32_t code)
{
    static const uint32_t none[][2] = { { 0, 0x1f },        { 0x7f, 0x9f },     { 0x300, 0x36f },
                                        { 0x200b, 0x200f }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f },
                                        { 0xfe20, 0xfe2f }, { 0xe0100, 0xe01ef } };
    static const uint32_t wide[][2] = { { 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x4dbf },
                                        { 0x4e00, 0xa4cf },   { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },
                                        { 0xfe30, 0xfe6f },   { 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },
                                        { 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
                                        { 0x20000, 0x3fffd } };

    if (code >= 0x20 && code < 0x7f)
        return 1;
    if (is_in_any(code, none, countof(none)))
        return 0;
    return is_in_any(code, wide, countof(wide)) ? 2 : 1;
}

/* Whether a row has columns: a handle is shown as a whole. */
static bool is_composite(JSValueConst value)
{
    return JS_IsObject(value) && !handle_of(JS_VALUE_GET_OBJ(value));
}

/* ---- cells ---- */

/* Ends the cell that was begun at `start`: counts its width, cuts it where it is long. */
static void cell_end(struct table *table, struct cell *cell, uint32_t start)
{
    const uint8_t *at = table->text.data + start, *end = table->text.data + table->text.length;
    uint32_t characters = 0;

    cell->start = start;
    cell->width = 0;
    while (at < end && characters++ < TABLE_CELL)
        cell->width += width_of(next_code_point(&at, end));
    table->text.length = (uint32_t)(at - table->text.data);
    cell->length = table->text.length - start;
}

static struct cell *cell_at(struct table *table, uint32_t row, uint32_t column)
{
    return &table->cells[(size_t)row * table->width + column];
}

/* What a cell shows: a list, or an object with few keys, one level deep. */
static int cell_value(struct table *table, uint32_t row, uint32_t column, JSValueConst value)
{
    uint32_t start = table->text.length;

    if (describe(&table->text, value, 1))
        return -1;
    cell_end(table, cell_at(table, row, column), start);
    return 0;
}

static int cell_text(struct table *table, uint32_t row, uint32_t column, const char *text)
{
    uint32_t start = table->text.length;

    if (bytes_text(&table->text, text))
        return -1;
    cell_end(table, cell_at(table, row, column), start);
    return 0;
}

static int cell_atom(struct table *table, uint32_t row, uint32_t column, JSAtom atom)
{
    JSValue name = JS_AtomToString(context, atom);
    uint32_t start = table->text.length;
    int status = JS_IsException(name) ? -1 : describe_string(&table->text, name, TEXT_PLAIN);

    JS_FreeValue(context, name);
    if (!status)
        cell_end(table, cell_at(table, row, column), start);
    return status;
}

static int cell_index(struct table *table, uint32_t row, uint32_t index)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", index);
    return cell_text(table, row, 0, text);
}

static int table_make(struct table *table, uint32_t rows, uint32_t width)
{
    table->rows = rows + 1;
    table->width = width;
    table->cells = js_calloc(context, (size_t)table->rows * width, sizeof(*table->cells));
    return table->cells ? 0 : -1;
}

static void table_free(struct table *table)
{
    bytes_free(&table->text);
    js_free(context, table->cells);
}

/* ---- drawing ---- */

static int draw_times(struct bytes *out, const char *text, uint32_t times)
{
    while (times-- > 0)
        if (bytes_text(out, text))
            return -1;
    return 0;
}

static int draw_line(struct bytes *out, const uint32_t *widths, uint32_t count, const char *left, const char *middle,
                     const char *right)
{
    int status = bytes_text(out, left);

    for (uint32_t i = 0; !status && i < count; i++) {
        status = draw_times(out, "─", widths[i] + 2);
        if (!status)
            status = bytes_text(out, i + 1 < count ? middle : right);
    }
    return status;
}

static int draw_row(struct bytes *out, struct table *table, const uint32_t *widths, uint32_t row)
{
    int status = bytes_text(out, "│");

    for (uint32_t i = 0; !status && i < table->width; i++) {
        const struct cell *cell = cell_at(table, row, i);
        uint32_t space = widths[i] + 1 - cell->width;

        status = bytes_add(out, ' ') || bytes_put(out, table->text.data + cell->start, cell->length) ||
                 draw_times(out, " ", space) || bytes_text(out, "│");
    }
    return status || bytes_add(out, '\n') ? -1 : 0;
}

static int table_draw(struct bytes *out, struct table *table)
{
    uint32_t widths[TABLE_COLUMNS + 2] = { 0 };
    char more[40];

    for (uint32_t row = 0; row < table->rows; row++)
        for (uint32_t i = 0; i < table->width; i++)
            if (cell_at(table, row, i)->width > widths[i])
                widths[i] = cell_at(table, row, i)->width;
    if (draw_line(out, widths, table->width, "┌", "┬", "┐\n") || draw_row(out, table, widths, 0) ||
        draw_line(out, widths, table->width, "├", "┼", "┤\n"))
        return -1;
    for (uint32_t row = 1; row < table->rows; row++)
        if (draw_row(out, table, widths, row))
            return -1;
    if (draw_line(out, widths, table->width, "└", "┴", "┘"))
        return -1;
    if (!table->left_out)
        return 0;
    snprintf(more, sizeof(more), "\n... %u more rows", table->left_out);
    return bytes_text(out, more);
}

/* ---- maps and sets ---- */

static int table_of_collection(struct table *table, JSObject *object)
{
    bool is_map = object->class_id == JS_CLASS_MAP;
    uint32_t count = object->u.map_state->record_count, row = 0;
    uint32_t shown = count < TABLE_ROWS ? count : TABLE_ROWS;
    struct list_head *at;
    int status = table_make(table, shown, is_map ? 3 : 2);

    table->left_out = count - shown;
    if (status || cell_text(table, 0, 0, "(iteration index)") || cell_text(table, 0, 1, is_map ? "Key" : "Values") ||
        (is_map && cell_text(table, 0, 2, "Values")))
        return -1;
    list_for_each(at, &object->u.map_state->records) {
        JSMapRecord *record = list_entry(at, JSMapRecord, link);

        if (record->empty)
            continue;
        if (row++ == shown)
            break;
        if (js_poll_interrupts(context) || cell_index(table, row, row - 1) || cell_value(table, row, 1, record->key) ||
            (is_map && cell_value(table, row, 2, record->value)))
            return -1;
    }
    return 0;
}

/* ---- objects and lists ---- */

static bool is_readable(JSValueConst value)
{
    if (!JS_IsObject(value))
        return false;
    switch (JS_VALUE_GET_OBJ(value)->class_id) {
    case JS_CLASS_OBJECT:
    case JS_CLASS_ARRAY:
    case JS_CLASS_ERROR:
        return true;
    default:
        return false;
    }
}

static uint32_t column_find(const struct columns *columns, JSAtom name)
{
    uint32_t i = 0;

    while (i < columns->count && columns->names[i] != name)
        i++;
    return i;
}

static void column_add(struct columns *columns, JSAtom name)
{
    if (columns->count < TABLE_COLUMNS && column_find(columns, name) == columns->count)
        columns->names[columns->count++] = JS_DupAtom(context, name);
}

static void columns_free(struct columns *columns)
{
    while (columns->count)
        JS_FreeAtom(context, columns->names[--columns->count]);
}

/* Columns that the program names; strings and numbers of its list. */
static int columns_of_filter(struct columns *columns, JSValueConst filter)
{
    uint32_t length;

    if (array_length(filter, &length))
        return -1;
    for (uint32_t i = 0; i < length && i < TABLE_COLUMNS; i++) {
        JSValue name;

        own_element(JS_VALUE_GET_OBJ(filter), i, &name);
        if (JS_IsString(name) || JS_IsNumber(name)) {
            JSAtom atom = JS_ValueToAtom(context, name);

            if (atom != JS_ATOM_NULL)
                column_add(columns, atom);
            JS_FreeAtom(context, atom);
        }
        JS_FreeValue(context, name);
    }
    return JS_HasException(context) ? -1 : 0;
}

static int columns_of_row(struct columns *columns, JSValueConst row, bool is_filtered)
{
    JSPropertyEnum *names;
    uint32_t count;

    if (is_filtered)
        return 0;
    if (!is_composite(row)) {
        columns->has_values = true;
        return 0;
    }
    if (!is_readable(row))
        return 0;
    if (JS_GetOwnPropertyNames(context, &names, &count, row, JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY))
        return -1;
    for (uint32_t i = 0; i < count && i < TABLE_COLUMNS; i++)
        column_add(columns, names[i].atom);
    js_free_prop_enum(context, names, count);
    return 0;
}

/* The value of a row; a getter is not called. The caller frees it. */
static JSValue row_value(JSObject *data, JSAtom atom)
{
    JSValue value;

    own_data(data, atom, &value);
    return value;
}

static int cells_of_row(struct table *table, uint32_t row, const struct columns *columns, JSValueConst value)
{
    JSObject *object = is_readable(value) ? JS_VALUE_GET_OBJ(value) : NULL;

    if (!is_composite(value))
        return columns->has_values ? cell_value(table, row, columns->count + 1, value) : 0;
    for (uint32_t i = 0; object && i < columns->count; i++) {
        JSAtom name = columns->names[i];
        uint32_t start = table->text.length;
        int present = JS_GetOwnPropertyInternal(context, NULL, object, name);

        if (present < 0 || js_poll_interrupts(context) || (present && describe_property(&table->text, object, name, 1)))
            return -1;
        cell_end(table, cell_at(table, row, i + 1), start);
    }
    return 0;
}

static int table_of_rows(struct table *table, JSObject *data, const JSPropertyEnum *names, uint32_t count,
                         struct columns *columns, bool is_filtered)
{
    int status = 0;

    for (uint32_t i = 0; !status && i < count; i++) {
        JSValue value = row_value(data, names[i].atom);

        status = js_poll_interrupts(context) || columns_of_row(columns, value, is_filtered) ? -1 : 0;
        JS_FreeValue(context, value);
    }
    if (status || table_make(table, count, columns->count + 1 + columns->has_values) ||
        cell_text(table, 0, 0, "(index)"))
        return -1;
    for (uint32_t i = 0; !status && i < columns->count; i++)
        status = cell_atom(table, 0, i + 1, columns->names[i]);
    if (!status && columns->has_values)
        status = cell_text(table, 0, columns->count + 1, "Values");
    for (uint32_t i = 0; !status && i < count; i++) {
        JSValue value = row_value(data, names[i].atom);

        status = cell_atom(table, i + 1, 0, names[i].atom) || cells_of_row(table, i + 1, columns, value) ? -1 : 0;
        JS_FreeValue(context, value);
    }
    return status;
}

static int table_of_object(struct table *table, JSObject *data, JSValueConst filter)
{
    struct columns columns = { 0 };
    bool is_filtered = JS_GetClassID(filter) == JS_CLASS_ARRAY;
    JSPropertyEnum *names;
    uint32_t count, shown;
    int status = is_filtered ? columns_of_filter(&columns, filter) : 0;

    if (!status && !JS_GetOwnPropertyNames(context, &names, &count, JS_MKPTR(JS_TAG_OBJECT, data),
                                           JS_GPN_STRING_MASK | JS_GPN_ENUM_ONLY)) {
        shown = count < TABLE_ROWS ? count : TABLE_ROWS;
        table->left_out = count - shown;
        status = table_of_rows(table, data, names, shown, &columns, is_filtered);
        js_free_prop_enum(context, names, count);
    } else {
        status = -1;
    }
    columns_free(&columns);
    return status;
}

/* Whether the value is drawn as a table; anything else is logged as it is. */
static bool is_tabular(JSValueConst value)
{
    if (!JS_IsObject(value))
        return false;
    return is_readable(value) || JS_GetClassID(value) == JS_CLASS_MAP || JS_GetClassID(value) == JS_CLASS_SET;
}

/* Appends the table of a value that `is_tabular`. */
static int table_write(struct bytes *out, JSValueConst data, JSValueConst filter)
{
    struct table table = { 0 };
    JSObject *object = JS_VALUE_GET_OBJ(data);
    int status = object->class_id == JS_CLASS_MAP || object->class_id == JS_CLASS_SET
                     ? table_of_collection(&table, object)
                     : table_of_object(&table, object, filter);

    if (!status)
        status = table_draw(out, &table);
    table_free(&table);
    return status;
}
