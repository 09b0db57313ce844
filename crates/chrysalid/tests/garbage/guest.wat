;; A guest of this ABI without an interpreter. The source of a program is `/*` and hexadecimal digits: a word that counts
;; records, the records of seven words (entry, act, five operands), and bytes that records refer to. On each entry it does
;; what a sane guest would, then the records of that entry in their order.
;;
;; Memory: stack below 64 KiB, board at 64 KiB, words and bytes of its own up to 128 KiB, the script up to 256 KiB, then
;; the inbox.
(module
  (import "chrysalid" "call" (func $call (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)))
  (import "chrysalid" "log" (func $log (param i32 i32 i32)))
  (import "chrysalid" "now" (func $now (param i32) (result f64)))
  (import "chrysalid" "random" (func $random (param i32 i32)))

  (memory (export "memory") 16)
  (table 4 4 funcref)
  (type $nothing (func))
  (global $stack (export "__stack_pointer") (mut i32) (i32.const 65536))
  (global (export "board") i32 (i32.const 65536))

  ;; Address of the interrupt counter; no timer; the value 1.
  (data (i32.const 65544) "\80\00\01\00")
  (data (i32.const 65568) "\00\00\00\00\00\00\f0\7f")
  (data (i32.const 66048) "\04\02")

  (func (export "abi_version") (result i32) (i32.const 5))
  (func (export "_initialize"))
  (func (export "init") (result i32) (i32.const 0))

  ;; An address with room for a message, growing the memory for it.
  (func $room (param $length i32) (result i32)
    (local $missing i32)
    (local.set $missing
      (i32.sub
        (i32.shr_u (i32.add (i32.add (i32.const 262144) (local.get $length)) (i32.const 65535)) (i32.const 16))
        (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then
        (if (i32.eq (memory.grow (local.get $missing)) (i32.const -1))
          (then (return (i32.const 0))))))
    (i32.const 262144))

  (func (export "inbox") (param $length i32) (result i32)
    (call $entry (i32.const 1) (call $room (local.get $length))))
  (func (export "configure") (result i32) (call $entry (i32.const 2) (i32.const 0)))
  (func (export "tools") (result i32) (call $entry (i32.const 3) (i32.const 0)))
  (func (export "modules") (result i32) (call $entry (i32.const 4) (i32.const 0)))
  (func (export "start") (param i32) (result i32)
    (call $read)
    ;; Fulfilled, no jobs, timers, intervals, calls, failures, hits.
    (i32.store (i32.const 65548) (i32.const 2))
    (memory.fill (i32.const 65552) (i32.const 0) (i32.const 16))
    (i64.store (i32.const 65568) (i64.const 0x7ff0000000000000))
    (memory.fill (i32.const 65576) (i32.const 0) (i32.const 24))
    (i32.store16 (i32.const 66048) (i32.const 0x0204))
    (call $entry (i32.const 5) (i32.const 0)))
  (func (export "pump") (result i32) (call $entry (i32.const 6) (i32.const 0)))
  (func (export "settle") (result i32) (call $entry (i32.const 7) (i32.const 0)))
  (func (export "loose") (result i32)
    (i64.store (i32.const 65584) (i64.const 66048))
    (call $entry (i32.const 8) (i32.const 0)))
  (func (export "outcome") (param i32) (result i32)
    ;; Address and length of the outbox.
    (i64.store (i32.const 65584) (i64.const 0x0000000200010200))
    (call $entry (i32.const 9) (i32.const 0)))
  (func (export "finish") (result i32)
    (i32.store (i32.const 65548) (i32.const 0))
    (call $entry (i32.const 10) (i32.const 0)))
  (func (export "collect") (result i32) (call $entry (i32.const 12) (i32.const 0)))
  (func (export "freed") (result i32)
    (i64.store (i32.const 65584) (i64.const 0))
    (call $entry (i32.const 11) (i32.const 0)))

  ;; Hexadecimal digits of the inbox, after two bytes, into the script: up to the first that is none.
  (func $read
    (local $from i32) (local $to i32) (local $high i32) (local $low i32)
    (i32.store (i32.const 131072) (i32.const 0))
    (local.set $from (i32.const 262146))
    (local.set $to (i32.const 131072))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $to) (i32.const 262144)))
        (local.set $high (call $digit (i32.load8_u (local.get $from))))
        (br_if $done (i32.lt_s (local.get $high) (i32.const 0)))
        (local.set $low (call $digit (i32.load8_u offset=1 (local.get $from))))
        (br_if $done (i32.lt_s (local.get $low) (i32.const 0)))
        (i32.store8 (local.get $to) (i32.or (i32.shl (local.get $high) (i32.const 4)) (local.get $low)))
        (local.set $from (i32.add (local.get $from) (i32.const 2)))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (br $next))))

  (func $digit (param $byte i32) (result i32)
    (if (i32.and (i32.ge_u (local.get $byte) (i32.const 48)) (i32.le_u (local.get $byte) (i32.const 57)))
      (then (return (i32.sub (local.get $byte) (i32.const 48)))))
    (if (i32.and (i32.ge_u (local.get $byte) (i32.const 97)) (i32.le_u (local.get $byte) (i32.const 102)))
      (then (return (i32.sub (local.get $byte) (i32.const 87)))))
    (i32.const -1))

  ;; Does the records of an entry; what it answers.
  (func $entry (param $entry i32) (param $answer i32) (result i32)
    (local $at i32) (local $end i32)
    (local.set $at (i32.const 131076))
    (local.set $end
      (i32.add (local.get $at) (i32.mul (i32.load (i32.const 131072)) (i32.const 28))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (if (i32.eq (i32.load (local.get $at)) (local.get $entry))
          (then (local.set $answer (call $act (local.get $at) (local.get $answer)))))
        (local.set $at (i32.add (local.get $at) (i32.const 28)))
        (br $next)))
    (local.get $answer))

  (func $act (param $at i32) (param $answer i32) (result i32)
    (local $a i32) (local $b i32) (local $c i32) (local $d i32) (local $times i32)
    (local.set $a (i32.load offset=8 (local.get $at)))
    (local.set $b (i32.load offset=12 (local.get $at)))
    (local.set $c (i32.load offset=16 (local.get $at)))
    (local.set $d (i32.load offset=20 (local.get $at)))
    (local.set $times (i32.load offset=24 (local.get $at)))
    (block $answers (block $recurses (block $divides (block $jumps (block $rests (block $spins (block $traps
    (block $grows (block $tells (block $draws (block $logs (block $calls (block $repeats (block $copies (block $writes
      (br_table $writes $copies $repeats $calls $logs $draws $tells $grows $traps $spins $rests $jumps $divides
        $recurses $answers (i32.load offset=4 (local.get $at))))
      ;; 0: b at a
      (i32.store (local.get $a) (local.get $b)) (return (local.get $answer)))
      ;; 1: c bytes of the script, from b on, to a
      (memory.copy (local.get $a) (i32.add (i32.const 131072) (local.get $b)) (local.get $c))
      (return (local.get $answer)))
      ;; 2: the word b, c times from a on
      (loop $again
        (i32.store (local.get $a) (local.get $b))
        (local.set $a (i32.add (local.get $a) (i32.const 4)))
        (local.set $c (i32.sub (local.get $c) (i32.const 1)))
        (br_if $again (local.get $c)))
      (return (local.get $answer)))
      ;; 3: a call; as all that follow with a number of times, 0 for 2^32
      (loop $again
        ;; Made in the file that has the tool's name, at a line and column that are addresses.
        (drop
          (call $call (local.get $a) (local.get $b) (local.get $c) (local.get $d)
            (local.get $a) (local.get $b) (local.get $a) (local.get $c)))
        (local.set $times (i32.sub (local.get $times) (i32.const 1)))
        (br_if $again (local.get $times)))
      (return (local.get $answer)))
      ;; 4: a line
      (loop $again
        (call $log (local.get $a) (local.get $b) (local.get $c))
        (local.set $times (i32.sub (local.get $times) (i32.const 1)))
        (br_if $again (local.get $times)))
      (return (local.get $answer)))
      ;; 5: random bytes
      (loop $again
        (call $random (local.get $a) (local.get $b))
        (local.set $times (i32.sub (local.get $times) (i32.const 1)))
        (br_if $again (local.get $times)))
      (return (local.get $answer)))
      ;; 6: a clock
      (loop $again
        (drop (call $now (local.get $a)))
        (local.set $times (i32.sub (local.get $times) (i32.const 1)))
        (br_if $again (local.get $times)))
      (return (local.get $answer)))
      ;; 7: memory
      (loop $again
        (drop (memory.grow (local.get $a)))
        (local.set $times (i32.sub (local.get $times) (i32.const 1)))
        (br_if $again (local.get $times)))
      (return (local.get $answer)))
      ;; 8
      unreachable)
      ;; 9
      (loop $again (br $again)))
      ;; 10: the stack pointer
      (global.set $stack (local.get $a)) (return (local.get $answer)))
      ;; 11: a function that is not in the table
      (call_indirect (type $nothing) (local.get $a)) (return (local.get $answer)))
      ;; 12
      (return (i32.div_u (local.get $a) (i32.const 0))))
      ;; 13
      (return (call $act (local.get $at) (local.get $answer))))
    ;; 14: what the entry answers
    (local.get $a))
)
