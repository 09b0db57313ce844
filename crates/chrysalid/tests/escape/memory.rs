//! Memory of the guest, and the two steps at its limit.

use chrysalid::defence::Defence;

use super::{Attack, attack};

pub(super) const ATTACKS: &[Attack] = &[
    attack(
        Defence::MemoryCount,
        "one_array_too_large_for_the_limit",
        &["let r; try { r = new Uint8Array(15 << 20).length } catch (e) { r = e.message } r"],
        "'out of memory'",
        "15728640",
    ),
    attack(
        Defence::MemoryHeadroom,
        "leave_no_room_for_the_error",
        &[
            "let name = 'none'; try { const a = []; for (;;) a.push({ n: a.length }) } catch (e) { name = e === null ? 'null' : e.name } name",
        ],
        "'InternalError'",
        "OutOfMemory Reset",
    ),
    attack(
        Defence::MemoryStop,
        "catch_and_fill_again_for_ever",
        &["for (;;) { try { const all = []; for (;;) all.push(new Uint8Array(50000)) } catch {} }"],
        "OutOfMemory Intact",
        "Timeout Intact",
    ),
    attack(
        Defence::MemoryStop,
        "keep_all_of_it_and_catch_for_ever",
        &["const keep = []; for (;;) { try { for (;;) keep.push(new Uint8Array(50000)) } catch {} }"],
        "OutOfMemory Reset",
        "Timeout Reset",
    ),
    attack(
        Defence::MemoryStop,
        "fill_it_by_lists",
        &["for (;;) { try { const all = []; for (let i = 0; ; i++) all.push(new Array(5000).fill(i)) } catch {} }"],
        "OutOfMemory Intact",
        "Timeout Intact",
    ),
    attack(
        Defence::MemoryStop,
        "fill_it_by_texts",
        &["for (;;) { try { const all = []; for (let i = 0; ; i++) all.push(String(i).padEnd(50000, i)) } catch {} }"],
        "OutOfMemory Intact",
        "Timeout Intact",
    ),
];
