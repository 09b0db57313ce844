//! The guest's ABI as the host knows it: the same names and values as `guest/abi.h`, which is the list. The test at
//! the end reads that file and compares, so the two cannot drift apart.

pub(crate) const VERSION: u32 = 5;
pub(crate) const IMPORT_MODULE: &str = "chrysalid";

macro_rules! constants {
    ($($name:ident: $type:ty = $value:expr, $c:literal;)*) => {
        $(
            #[allow(dead_code, reason = "the whole ABI is listed, whether the host looks at a constant or not")]
            pub(crate) const $name: $type = $value;
        )*

        #[cfg(test)]
        const ALL: &[(&str, &dyn Fn() -> String)] = &[$(($c, &|| format!("{:?}", $name)),)*];
    };
}

constants! {
    EXPORT_VERSION: &str = "abi_version", "ABI_EXPORT_VERSION";
    EXPORT_INIT: &str = "init", "ABI_EXPORT_INIT";
    EXPORT_INBOX: &str = "inbox", "ABI_EXPORT_INBOX";
    EXPORT_CONFIGURE: &str = "configure", "ABI_EXPORT_CONFIGURE";
    EXPORT_TOOLS: &str = "tools", "ABI_EXPORT_TOOLS";
    EXPORT_MODULES: &str = "modules", "ABI_EXPORT_MODULES";
    EXPORT_START: &str = "start", "ABI_EXPORT_START";
    EXPORT_PUMP: &str = "pump", "ABI_EXPORT_PUMP";
    EXPORT_SETTLE: &str = "settle", "ABI_EXPORT_SETTLE";
    EXPORT_LOOSE: &str = "loose", "ABI_EXPORT_LOOSE";
    EXPORT_OUTCOME: &str = "outcome", "ABI_EXPORT_OUTCOME";
    EXPORT_FINISH: &str = "finish", "ABI_EXPORT_FINISH";
    EXPORT_COLLECT: &str = "collect", "ABI_EXPORT_COLLECT";
    EXPORT_FREED: &str = "freed", "ABI_EXPORT_FREED";
    EXPORT_BOARD: &str = "board", "ABI_EXPORT_BOARD";
    EXPORT_MEMORY: &str = "memory", "ABI_EXPORT_MEMORY";
    EXPORT_STACK_POINTER: &str = "__stack_pointer", "ABI_EXPORT_STACK_POINTER";
    IMPORT_CALL: &str = "call", "ABI_IMPORT_CALL";
    IMPORT_LOG: &str = "log", "ABI_IMPORT_LOG";
    IMPORT_NOW: &str = "now", "ABI_IMPORT_NOW";
    IMPORT_RANDOM: &str = "random", "ABI_IMPORT_RANDOM";
    IMPORT_FUNCTION: &str = "$import", "ABI_IMPORT_FUNCTION";
    MODULE_CALL: &str = "$import", "ABI_MODULE_CALL";
    REVEAL_FUNCTION: &str = "reveal", "ABI_REVEAL_FUNCTION";
    REVEAL_CALL: &str = "$reveal", "ABI_REVEAL_CALL";
    TOOL_LISTED: u8 = 0, "TOOL_LISTED";
    TOOL_HIDDEN: u8 = 1, "TOOL_HIDDEN";
    TOOL_REVEAL: u8 = 2, "TOOL_REVEAL";
    TOOL_GLOBAL: u8 = 3, "TOOL_GLOBAL";
    CALL_STOPPED: u32 = 0, "CALL_STOPPED";
    CALL_REFUSED: u32 = u32::MAX, "CALL_REFUSED";
    TIME_WALL: u32 = 0, "TIME_WALL";
    TIME_MONOTONIC: u32 = 1, "TIME_MONOTONIC";
    TIME_HOST: u32 = 2, "TIME_HOST";
    INBOX_SMALL: usize = 1024, "INBOX_SMALL";
    STATUS_OK: i32 = 0, "STATUS_OK";
    STATUS_BAD_MESSAGE: i32 = 1, "STATUS_BAD_MESSAGE";
    STATUS_NO_MEMORY: i32 = 2, "STATUS_NO_MEMORY";
    STATUS_TOO_LARGE: i32 = 3, "STATUS_TOO_LARGE";
    STATUS_NOTHING: i32 = 4, "STATUS_NOTHING";
    STOP_NONE: u32 = 0, "STOP_NONE";
    STOP_HOST: u32 = 1, "STOP_HOST";
    STOP_MEMORY: u32 = 2, "STOP_MEMORY";
    PROGRAM_NONE: u32 = 0, "PROGRAM_NONE";
    PROGRAM_RUNNING: u32 = 1, "PROGRAM_RUNNING";
    PROGRAM_FULFILLED: u32 = 2, "PROGRAM_FULFILLED";
    PROGRAM_REJECTED: u32 = 3, "PROGRAM_REJECTED";
    OUTCOME_VALUE: u32 = 0, "OUTCOME_VALUE";
    OUTCOME_FAILURE: u32 = 1, "OUTCOME_FAILURE";
    OUTCOME_HANGS: u32 = 2, "OUTCOME_HANGS";
    FAILURE_BYTES: usize = 65536, "FAILURE_BYTES";
    FAILURE_SLACK: usize = 4096, "FAILURE_SLACK";
    FAILURE_REJECTION: u32 = 1, "FAILURE_REJECTION";
    FAILURE_TIMER: u32 = 2, "FAILURE_TIMER";
    FAILURE_JOB: u32 = 3, "FAILURE_JOB";
    ANSWER_VALUE: u8 = 0, "ANSWER_VALUE";
    ANSWER_ERROR: u8 = 1, "ANSWER_ERROR";
    ANSWER_MODULE: u8 = 2, "ANSWER_MODULE";
    ANSWER_HEAD: u8 = 9, "ANSWER_HEAD";
    LEVEL_LOG: u32 = 0, "LEVEL_LOG";
    LEVEL_INFO: u32 = 1, "LEVEL_INFO";
    LEVEL_DEBUG: u32 = 2, "LEVEL_DEBUG";
    LEVEL_WARN: u32 = 3, "LEVEL_WARN";
    LEVEL_ERROR: u32 = 4, "LEVEL_ERROR";
    LEVEL_CUT: u32 = 0x100, "LEVEL_CUT";
    CONFIGURE_MEMORY: usize = 0, "CONFIGURE_MEMORY";
    CONFIGURE_STACK: usize = 1, "CONFIGURE_STACK";
    CONFIGURE_ARGUMENT_BYTES: usize = 2, "CONFIGURE_ARGUMENT_BYTES";
    CONFIGURE_DEPTH: usize = 3, "CONFIGURE_DEPTH";
    CONFIGURE_NODES: usize = 4, "CONFIGURE_NODES";
    CONFIGURE_RESULT_BYTES: usize = 5, "CONFIGURE_RESULT_BYTES";
    CONFIGURE_LOG_BYTES: usize = 6, "CONFIGURE_LOG_BYTES";
    CONFIGURE_WORDS: usize = 7, "CONFIGURE_WORDS";
    WEAKENED: &str = "weakened", "ABI_WEAKENED";
    DEFENCE_MEMORY_HEADROOM: u32 = 0, "DEFENCE_MEMORY_HEADROOM";
    DEFENCE_MEMORY_STOP: u32 = 1, "DEFENCE_MEMORY_STOP";
    DEFENCE_FROZEN_TOOLS: u32 = 2, "DEFENCE_FROZEN_TOOLS";
    DEFENCE_BARE_TOOLS: u32 = 3, "DEFENCE_BARE_TOOLS";
    DEFENCE_PLAIN_ANSWERS: u32 = 4, "DEFENCE_PLAIN_ANSWERS";
    DEFENCE_DEFINED_PROPERTIES: u32 = 5, "DEFENCE_DEFINED_PROPERTIES";
    DEFENCE_STACKS_RESET: u32 = 6, "DEFENCE_STACKS_RESET";
    DEFENCE_JOBS_DROPPED: u32 = 7, "DEFENCE_JOBS_DROPPED";
    DEFENCE_STOP_ENDS_JOBS: u32 = 8, "DEFENCE_STOP_ENDS_JOBS";
    DEFENCE_FAILURE_ENDS_JOBS: u32 = 9, "DEFENCE_FAILURE_ENDS_JOBS";
    DEFENCE_GETTERS_UNRUN: u32 = 10, "DEFENCE_GETTERS_UNRUN";
    BOARD_STOP: usize = 0, "BOARD_STOP";
    BOARD_YIELD: usize = 4, "BOARD_YIELD";
    BOARD_COUNTER: usize = 8, "BOARD_COUNTER";
    BOARD_PROGRAM: usize = 12, "BOARD_PROGRAM";
    BOARD_JOBS: usize = 16, "BOARD_JOBS";
    BOARD_TIMERS: usize = 20, "BOARD_TIMERS";
    BOARD_INTERVALS: usize = 24, "BOARD_INTERVALS";
    BOARD_CALLS: usize = 28, "BOARD_CALLS";
    BOARD_NEXT_DUE: usize = 32, "BOARD_NEXT_DUE";
    BOARD_FAILURES: usize = 40, "BOARD_FAILURES";
    BOARD_FAILURE_KIND: usize = 44, "BOARD_FAILURE_KIND";
    BOARD_OUT: usize = 48, "BOARD_OUT";
    BOARD_OUT_LENGTH: usize = 52, "BOARD_OUT_LENGTH";
    BOARD_MEMORY_HITS: usize = 56, "BOARD_MEMORY_HITS";
    BOARD_HEAP_BYTES: usize = 60, "BOARD_HEAP_BYTES";
    BOARD_INBOX: usize = 64, "BOARD_INBOX";
    BOARD_INBOX_FILLED: usize = 68, "BOARD_INBOX_FILLED";
    BOARD_SIZE: usize = 72, "BOARD_SIZE";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{ALL, IMPORT_MODULE, VERSION};

    /// Every `#define NAME value` of the header, its value as Rust would print it.
    fn header() -> BTreeMap<String, String> {
        include_str!("../../../../guest/abi.h")
            .lines()
            .filter_map(|line| line.strip_prefix("#define "))
            .filter_map(|line| line.split_once(' '))
            .map(|(name, rest)| {
                let value = rest.split("/*").next().unwrap().trim();
                let value = value
                    .strip_prefix("0x")
                    .map_or_else(|| value.to_owned(), |hex| u32::from_str_radix(hex, 16).unwrap().to_string());
                (name.to_owned(), value)
            })
            .collect()
    }

    #[test]
    fn host_and_guest_agree() {
        let mut header = header();
        assert_eq!(header.remove("ABI_VERSION"), Some(VERSION.to_string()));
        assert_eq!(header.remove("ABI_IMPORT_MODULE"), Some(format!("{IMPORT_MODULE:?}")));
        for (name, value) in ALL {
            assert_eq!(header.remove(*name), Some(value()), "{name}");
        }
        // Tags of values are compared in tests/abi.rs, with what the encoder writes.
        header.retain(|name, _| !name.starts_with("TAG_") && !name.starts_with("ERROR_HAS_"));
        assert_eq!(header, BTreeMap::new(), "constants of the header that the host does not know");
    }
}
