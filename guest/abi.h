/* The contract between guest and host: every export, import, status code, bound and value tag.
 *
 * This is the only list. The Rust side keeps the same names in `engine/abi.rs`, and a test there reads this file
 * and compares. A change of meaning here is a new ABI_VERSION. docs/guest-abi.md explains it in prose.
 */
#ifndef CHRYSALID_ABI_H
#define CHRYSALID_ABI_H

#define ABI_VERSION 5
#define ABI_IMPORT_MODULE "chrysalid"

/* Exports. Those with a message read it from the inbox, which they consume. A message of at most INBOX_SMALL bytes may lie in
 * the small inbox instead, with its length, plus one, on the board. */
#define ABI_EXPORT_VERSION "abi_version" /* () -> i32, ABI_VERSION */
#define ABI_EXPORT_INIT "init"           /* () -> i32; once, before the baseline image is taken */
#define ABI_EXPORT_INBOX "inbox"         /* (length) -> address, 0 when there is no memory */
#define ABI_EXPORT_CONFIGURE "configure" /* () -> i32; message: CONFIGURE_WORDS u32 */
#define ABI_EXPORT_TOOLS "tools"         /* () -> i32; message: TOOL_*, path and name of each */
#define ABI_EXPORT_MODULES "modules"     /* () -> i32; message: key and source of each, a whole graph */
#define ABI_EXPORT_START "start"         /* (program number) -> i32; message: source text; then as pump */
#define ABI_EXPORT_PUMP "pump"           /* () -> i32; runs jobs and due timers until dry, yield or stop */
#define ABI_EXPORT_SETTLE "settle"       /* () -> i32; message: answers; then as pump */
#define ABI_EXPORT_LOOSE "loose"         /* () -> i32; writes ids of calls that nothing open waits for */
#define ABI_EXPORT_OUTCOME "outcome"     /* (which) -> i32; writes a value to the outbox */
#define ABI_EXPORT_FINISH "finish"       /* () -> i32; drops everything that belongs to the program; no memory: its heap is over the bound */
#define ABI_EXPORT_COLLECT "collect"     /* () -> i32; frees garbage before a snapshot, where that pays and nothing would be told of it */
#define ABI_EXPORT_FREED "freed"         /* () -> i32; writes the numbers of handles that are gone, once each */
#define ABI_EXPORT_BOARD "board"         /* global: address of the board */
#define ABI_EXPORT_MEMORY "memory"
#define ABI_EXPORT_STACK_POINTER "__stack_pointer"

/* Imports. */
#define ABI_IMPORT_CALL "call"     /* (name, name length, arguments, length, file, file length, line, column) -> call number, or CALL_* */
#define ABI_IMPORT_LOG "log"       /* (level, value, length) */
#define ABI_IMPORT_NOW "now"       /* (clock) -> f64 milliseconds */
#define ABI_IMPORT_RANDOM "random" /* (address, length) */

/* The global function that `import` becomes, and the name of the call by which it asks for a module's graph. */
#define ABI_IMPORT_FUNCTION "$import"
#define ABI_MODULE_CALL "$import"

/* The global function that reads a handle, where there is one, and the name of its calls. */
#define ABI_REVEAL_FUNCTION "reveal"
#define ABI_REVEAL_CALL "$reveal"

/* What a name in the message of `tools` is. */
#define TOOL_LISTED 0
#define TOOL_HIDDEN 1 /* another way to something, not enumerable */
#define TOOL_REVEAL 2 /* no tool: there is to be the global function `reveal` */
#define TOOL_GLOBAL 3 /* a tool that is also a global function; its path is one name */

/* What the call import answers in place of a number. */
#define CALL_STOPPED 0
#define CALL_REFUSED 0xffffffff

/* Which time `now` tells: since 1970, or since the session began, which stands still while nothing is restored. */
#define TIME_WALL 0
#define TIME_MONOTONIC 1
#define TIME_HOST 2 /* as TIME_WALL, also where the program is shown a fixed clock: what timers wait by */

/* Bytes of the small inbox. */
#define INBOX_SMALL 1024

/* Status codes of exports. */
#define STATUS_OK 0
#define STATUS_BAD_MESSAGE 1
#define STATUS_NO_MEMORY 2
#define STATUS_TOO_LARGE 3
#define STATUS_NOTHING 4

/* Stop word: why the running program must end. The host writes all but STOP_MEMORY. */
#define STOP_NONE 0
#define STOP_HOST 1
#define STOP_MEMORY 2

/* State of the program. */
#define PROGRAM_NONE 0
#define PROGRAM_RUNNING 1
#define PROGRAM_FULFILLED 2
#define PROGRAM_REJECTED 3

/* What `outcome` is asked for. */
#define OUTCOME_VALUE 0
#define OUTCOME_FAILURE 1
#define OUTCOME_HANGS 2 /* where async functions wait */

/* Room that a failure has at least, whatever the bound of results; notes in it may take FAILURE_SLACK more. */
#define FAILURE_BYTES 65536
#define FAILURE_SLACK 4096

/* Where a failure outside the program's own promise came from. */
#define FAILURE_REJECTION 1
#define FAILURE_TIMER 2
#define FAILURE_JOB 3

/* Answers to a call. */
#define ANSWER_VALUE 0
#define ANSWER_ERROR 1
#define ANSWER_MODULE 2 /* key of a module, then the message of `modules` */
#define ANSWER_HEAD 9 /* call number u32, kind u8, length of the rest u32 */

/* Console levels. */
#define LEVEL_LOG 0
#define LEVEL_INFO 1
#define LEVEL_DEBUG 2
#define LEVEL_WARN 3
#define LEVEL_ERROR 4
#define LEVEL_CUT 0x100 /* beside the level: not all of the line is here */

/* Words of the configure message, in this order. */
#define CONFIGURE_MEMORY 0
#define CONFIGURE_STACK 1
#define CONFIGURE_ARGUMENT_BYTES 2
#define CONFIGURE_DEPTH 3
#define CONFIGURE_NODES 4
#define CONFIGURE_RESULT_BYTES 5
#define CONFIGURE_LOG_BYTES 6
#define CONFIGURE_WORDS 7

/* Offsets in the board, in bytes. */
#define BOARD_STOP 0
#define BOARD_YIELD 4
#define BOARD_COUNTER 8
#define BOARD_PROGRAM 12
#define BOARD_JOBS 16
#define BOARD_TIMERS 20
#define BOARD_INTERVALS 24
#define BOARD_CALLS 28
#define BOARD_NEXT_DUE 32
#define BOARD_FAILURES 40
#define BOARD_FAILURE_KIND 44
#define BOARD_OUT 48
#define BOARD_OUT_LENGTH 52
#define BOARD_MEMORY_HITS 56
#define BOARD_HEAP_BYTES 60
#define BOARD_INBOX 64
#define BOARD_INBOX_FILLED 68
#define BOARD_SIZE 72

/* Bits of `weakened`, an address that only the build for tests exports: see defence.h. */
#define ABI_WEAKENED "weakened"
#define DEFENCE_MEMORY_HEADROOM 0
#define DEFENCE_MEMORY_STOP 1
#define DEFENCE_FROZEN_TOOLS 2
#define DEFENCE_BARE_TOOLS 3
#define DEFENCE_PLAIN_ANSWERS 4
#define DEFENCE_DEFINED_PROPERTIES 5
#define DEFENCE_STACKS_RESET 6
#define DEFENCE_JOBS_DROPPED 7
#define DEFENCE_STOP_ENDS_JOBS 8
#define DEFENCE_FAILURE_ENDS_JOBS 9
#define DEFENCE_GETTERS_UNRUN 10

/* Value tags. */
#define TAG_UNDEFINED 0x00
#define TAG_NULL 0x01
#define TAG_FALSE 0x02
#define TAG_TRUE 0x03
#define TAG_INT 0x04
#define TAG_NUMBER 0x05
#define TAG_BIGINT 0x06
#define TAG_STRING 0x07
#define TAG_ARRAY_BUFFER 0x08
#define TAG_TYPED_ARRAY 0x09
#define TAG_DATE 0x0a
#define TAG_REGEXP 0x0b
#define TAG_ARRAY 0x0c
#define TAG_HOLE 0x0d
#define TAG_OBJECT 0x0e
#define TAG_MAP 0x0f
#define TAG_SET 0x10
#define TAG_ERROR 0x11
#define TAG_REF 0x12
#define TAG_DESCRIPTION 0x13
#define TAG_INSTANCE 0x14 /* only shown: name of its class, then TAG_OBJECT */
#define TAG_HANDLE 0x15

/* Flags of TAG_ERROR. */
#define ERROR_HAS_STACK 1
#define ERROR_HAS_CAUSE 2
#define ERROR_HAS_ERRORS 4
#define ERROR_HAS_DETAILS 8 /* only shown: its other properties as one text */

#endif
