/* Memory: the allocator behind QuickJS with sizes of its own, the limit, and the two steps at the limit.
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
    bool began_tight; /* the program began with little left by those before it */
    size_t used;
    size_t bound; /* as the host set it */
    size_t limit; /* the bound, and the headroom once a program has met it */
} memory = { false, 0, SIZE_MAX / 2, SIZE_MAX / 2 };

static void memory_exhausted(void);

/* What stands before each block. The allocator's own size may grow while a block lives, by what was left over before the
 * next one: it would take more from the count at the end than it added at the beginning.
 */
struct block {
    size_t size;
    _Alignas(8) uint8_t bytes[];
};

/* What a block costs beside its size: the allocator's share, and ours. */
#define BLOCK_OVERHEAD (8u + sizeof(struct block))

static struct block *block_of(const void *bytes)
{
    return (struct block *)((uint8_t *)(uintptr_t)bytes - sizeof(struct block));
}

static size_t block_size(const void *bytes)
{
    return block_of(bytes)->size;
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

/* Takes down what the allocator made of a request. */
static void *memory_counted(struct block *block)
{
    if (!block) {
        memory_exhausted();
        return NULL;
    }
    block->size = malloc_usable_size(block) - sizeof(struct block);
    memory.used += block->size + BLOCK_OVERHEAD;
    return block->bytes;
}

/* The engine carves small blocks from arenas of nearly a page, one for each size. While the baseline is made, each arena gets a
 * page of its own: a session copies the pages that it writes, and would copy two for an arena that lies across their border.
 */
#define PAGE 4096u
#define ARENA_LEAST (PAGE - 512u)
#define ARENA_MOST (PAGE - sizeof(struct block))
#define ARENAS 40u /* as many as the baseline has */

static struct {
    uint8_t *pages; /* ARENAS of them */
    uint32_t count; /* handed out at least once */
    struct block *freed; /* each has the next for its size */
} arenas;

static bool is_arena(const struct block *block)
{
    return (uintptr_t)block - (uintptr_t)arenas.pages < ARENAS * PAGE;
}

/* Before anything else is allocated, so that nothing lies between them. */
static void arenas_reserve(void)
{
    arenas.pages = aligned_alloc(PAGE, ARENAS * PAGE);
    if (arenas.pages)
        memset(arenas.pages, 0, ARENAS * PAGE);
}

static struct block *arena_take(void)
{
    struct block *block = arenas.freed;

    if (block) {
        arenas.freed = (struct block *)block->size;
        return block;
    }
    return arenas.pages && arenas.count < ARENAS ? (struct block *)(arenas.pages + PAGE * arenas.count++) : NULL;
}

static void arena_give(struct block *block)
{
    block->size = (size_t)arenas.freed;
    arenas.freed = block;
}

static void block_release(struct block *block)
{
    if (is_arena(block))
        arena_give(block);
    else
        free(block);
}

static void *memory_malloc(void *opaque, size_t size)
{
    struct block *arena;

    (void)opaque;
    if (!memory_allows(size))
        return NULL;
    arena = size >= ARENA_LEAST && size <= ARENA_MOST ? arena_take() : NULL;
    if (!arena)
        return memory_counted(malloc(sizeof(struct block) + size));
    arena->size = size;
    memory.used += size + BLOCK_OVERHEAD;
    return arena->bytes;
}

static void *memory_calloc(void *opaque, size_t count, size_t size)
{
    (void)opaque;
    return memory_allows(count * size) ? memory_counted(calloc(1, sizeof(struct block) + count * size)) : NULL;
}

/* From this size on a block is moved in parts: a copy of tens of megabytes is one instruction, which no stop interrupts. */
#define LARGE_BLOCK (1u << 20)
#define MOVED_PART (256u * 1024u)
/* Up to this size words are written one by one: the instruction that fills memory is a call of the host. */
#define SMALL_BLOCK 512u

/* What is left in freed memory would be kept by a snapshot: it would bloat it, and last longer than the program meant. */
static void wipe(uint8_t *bytes, size_t size)
{
    if (size <= SMALL_BLOCK) {
        for (size_t at = 0; at + sizeof(uint64_t) <= size; at += sizeof(uint64_t))
            *(volatile uint64_t *)(bytes + at) = 0;
        for (size_t at = size & ~(sizeof(uint64_t) - 1); at < size; at++)
            bytes[at] = 0;
        return;
    }
    for (size_t at = 0; at < size; at += MOVED_PART) {
        memset(bytes + at, 0, size - at < MOVED_PART ? size - at : MOVED_PART);
        __asm__ volatile("" ::: "memory"); /* or the compiler leaves out what is freed next */
    }
}

static void memory_free(void *opaque, void *bytes)
{
    (void)opaque;
    if (!bytes)
        return;
    memory.used -= block_size(bytes) + BLOCK_OVERHEAD;
    wipe(bytes, block_size(bytes));
    block_release(block_of(bytes));
}

static struct block *block_move(struct block *from, size_t used, size_t size)
{
    struct block *to = malloc(sizeof(struct block) + size);

    if (!to)
        return is_arena(from) ? NULL : realloc(from, sizeof(struct block) + size);
    if (used > size)
        used = size;
    for (size_t at = 0; at < used; at += MOVED_PART) {
        memcpy(to->bytes + at, from->bytes + at, used - at < MOVED_PART ? used - at : MOVED_PART);
        __asm__ volatile("" ::: "memory"); /* or the compiler makes one copy of them all */
    }
    wipe(from->bytes, used);
    block_release(from);
    return to;
}

static struct block *block_resize(struct block *from, size_t used, size_t size)
{
    return (size > used && used >= LARGE_BLOCK) || is_arena(from) ? block_move(from, used, size)
                                                                  : realloc(from, sizeof(struct block) + size);
}

static void *memory_realloc(void *opaque, void *bytes, size_t size)
{
    size_t before, capacity;
    struct block *moved;

    if (!bytes)
        return memory_malloc(opaque, size);
    if (size == 0) {
        memory_free(opaque, bytes);
        return NULL;
    }
    before = block_size(bytes);
    if (size < before)
        wipe((uint8_t *)bytes + size, before - size);
    if (size > before && !memory_allows(size - before))
        return NULL;
    /* A block that grows by small steps, such as a string under +=, would be copied at each one. */
    capacity = size > before && size > 4096 ? size + size / 8 : size;
    if (capacity != size && (capacity - before > memory.limit || memory.used > memory.limit - (capacity - before)))
        capacity = size;
    moved = block_resize(block_of(bytes), before, capacity);
    if (!moved && capacity != size)
        moved = block_resize(block_of(bytes), before, size);
    if (!moved) {
        memory_exhausted();
        return NULL;
    }
    memory.used -= before + BLOCK_OVERHEAD;
    return memory_counted(moved);
}

static const JSMallocFunctions memory_functions = {
    memory_calloc, memory_malloc, memory_free, memory_realloc, block_size,
};

/* The inbox holds one message of the host; it is not the program's memory, so it is not counted. */
static struct {
    uint8_t *bytes;
    uint32_t length;
} inbox_slot;

/* Most messages are small: these the host writes here, without asking for room. */
static uint8_t inbox_small[INBOX_SMALL + 1];

static void inbox_release(void)
{
    if (inbox_slot.bytes)
        wipe(inbox_slot.bytes, inbox_slot.length);
    if (inbox_slot.bytes != inbox_small)
        free(inbox_slot.bytes);
    inbox_slot.bytes = NULL;
    inbox_slot.length = 0;
}

/* A message that lies in the small inbox, with its length plus one. */
static void inbox_take_small(uint32_t filled)
{
    inbox_release();
    inbox_slot.length = filled <= sizeof(inbox_small) ? filled - 1 : 0;
    inbox_slot.bytes = inbox_small;
    inbox_small[inbox_slot.length] = 0;
}

static uint8_t *inbox_reserve(uint32_t length)
{
    inbox_release();
    inbox_slot.length = 0;
    inbox_slot.bytes = malloc((size_t)length + 1);
    if (inbox_slot.bytes) {
        inbox_slot.length = length;
        inbox_slot.bytes[length] = 0;
    }
    return inbox_slot.bytes;
}
