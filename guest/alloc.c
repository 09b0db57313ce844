/* Memory: the allocator behind QuickJS with real sizes, the limit, and the two steps at the limit.
 *
 * At the limit an allocation fails once with room left for a proper error, which the program may catch. When
 * the heap is full again, the stop word ends the program. A single request that could never fit is refused
 * without counting, since the heap still has room.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>

#define MEMORY_HEADROOM (256u * 1024u)

static struct {
    size_t used;
    size_t bound; /* as the host set it */
    size_t limit; /* the bound, and the headroom once a program has met it */
} memory = { 0, SIZE_MAX / 2, SIZE_MAX / 2 };

static void memory_exhausted(void);

/* What the allocator itself needs for a block. */
#define BLOCK_OVERHEAD 8u

static size_t block_size(void *block)
{
    return malloc_usable_size(block) + BLOCK_OVERHEAD;
}

static bool memory_allows(size_t more)
{
    if (more <= memory.limit && memory.used <= memory.limit - more)
        return true;
    if (more > MEMORY_HEADROOM && memory.used + MEMORY_HEADROOM <= memory.limit)
        return false;
    memory_exhausted();
    return false;
}

static bool memory_is_tight(void)
{
    return memory.used + MEMORY_HEADROOM > memory.bound;
}

/* Whether no program could begin in what is left. */
static bool memory_is_full(void)
{
    void *volatile room = malloc(MEMORY_HEADROOM); /* a compiler may leave out an allocation that nobody uses */
    bool full = !room || memory.used > memory.bound;

    free(room);
    return full;
}

static void *memory_counted(void *block)
{
    if (block)
        memory.used += block_size(block);
    else
        memory_exhausted();
    return block;
}

static void *memory_malloc(void *opaque, size_t size)
{
    (void)opaque;
    return memory_allows(size) ? memory_counted(malloc(size)) : NULL;
}

static void *memory_calloc(void *opaque, size_t count, size_t size)
{
    (void)opaque;
    return memory_allows(count * size) ? memory_counted(calloc(count, size)) : NULL;
}

static void memory_free(void *opaque, void *block)
{
    (void)opaque;
    if (!block)
        return;
    memory.used -= block_size(block);
    free(block);
}

static void *memory_realloc(void *opaque, void *block, size_t size)
{
    size_t before, capacity;
    void *moved;

    if (!block)
        return memory_malloc(opaque, size);
    if (size == 0) {
        memory_free(opaque, block);
        return NULL;
    }
    before = malloc_usable_size(block);
    if (size > before && !memory_allows(size - before))
        return NULL;
    /* A block that grows by small steps, such as a string under +=, would be copied at each one. */
    capacity = size > before && size > 4096 ? size + size / 8 : size;
    if (capacity != size && (capacity - before > memory.limit || memory.used > memory.limit - (capacity - before)))
        capacity = size;
    moved = realloc(block, capacity);
    if (!moved && capacity != size)
        moved = realloc(block, size);
    if (!moved) {
        memory_exhausted();
        return NULL;
    }
    memory.used += malloc_usable_size(moved) - before; /* the overhead is the same */
    return moved;
}

static const JSMallocFunctions memory_functions = {
    memory_calloc, memory_malloc, memory_free, memory_realloc, (size_t (*)(const void *))malloc_usable_size,
};

/* The inbox holds one message of the host; it is not the program's memory, so it is not counted. */
static struct {
    uint8_t *bytes;
    uint32_t length;
} inbox_slot;

static uint8_t *inbox_reserve(uint32_t length)
{
    free(inbox_slot.bytes);
    inbox_slot.length = 0;
    inbox_slot.bytes = malloc((size_t)length + 1);
    if (inbox_slot.bytes) {
        inbox_slot.length = length;
        inbox_slot.bytes[length] = 0;
    }
    return inbox_slot.bytes;
}

static void inbox_release(void)
{
    /* What is left in freed memory would be kept by a snapshot. */
    if (inbox_slot.bytes)
        memset(inbox_slot.bytes, 0, inbox_slot.length);
    free(inbox_slot.bytes);
    inbox_slot.bytes = NULL;
    inbox_slot.length = 0;
}
