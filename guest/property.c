/* Properties, read without running any code of the program: a getter is not called. */

enum own_property { OWN_ABSENT, OWN_DATA, OWN_ACCESSOR };

/* Reads an own property. `*value` is the caller's to free; it is undefined where there is no data. */
static enum own_property own_data(JSObject *object, JSAtom atom, JSValue *value)
{
    JSProperty *property;
    JSShapeProperty *shape;

    *value = JS_UNDEFINED;
    if (object->fast_array && __JS_AtomIsTaggedInt(atom))
        return js_get_fast_array_element(context, object, __JS_AtomToUInt32(atom), value) ? OWN_DATA : OWN_ABSENT;
    shape = find_own_property(&property, object, atom);
    if (!shape)
        return OWN_ABSENT;
    if ((shape->flags & JS_PROP_TMASK) != JS_PROP_NORMAL)
        return OWN_ACCESSOR;
    *value = js_dup(property->u.value);
    return OWN_DATA;
}

/* An element of a list. */
static enum own_property own_element(JSObject *list, uint32_t index, JSValue *value)
{
    JSAtom atom = JS_NewAtomUInt32(context, index);
    enum own_property kind;

    *value = JS_UNDEFINED;
    if (atom == JS_ATOM_NULL)
        return OWN_ABSENT;
    kind = own_data(list, atom, value);
    JS_FreeAtom(context, atom);
    return kind;
}

/* A data property of the object or its prototypes, or undefined. */
static JSValueConst data_property(JSObject *object, JSAtom atom)
{
    JSProperty *property;

    for (int hops = 0; object && hops < 16; hops++) {
        JSShapeProperty *shape = find_own_property(&property, object, atom);
        if (shape)
            return (shape->flags & JS_PROP_TMASK) == JS_PROP_NORMAL ? property->u.value : JS_UNDEFINED;
        object = object->shape->proto;
    }
    return JS_UNDEFINED;
}

/* The name of an object's class as a string, to be freed by the caller; an exception without memory. */
static JSValue class_name(JSObject *object)
{
    JSValueConst constructor = data_property(object, JS_ATOM_constructor), name = JS_UNDEFINED;

    if (JS_IsObject(constructor))
        name = data_property(JS_VALUE_GET_OBJ(constructor), JS_ATOM_name);
    if (JS_IsString(name) && !JS_IsEmptyString(name))
        return js_dup(name);
    return JS_AtomToString(context, runtime->class_array[object->class_id].class_name);
}
