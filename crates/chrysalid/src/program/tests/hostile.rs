//! Sources that are made to hurt the host: nesting of every kind, at any size, from a small stack.

use std::time::{Duration, Instant};

use super::super::{Refusal, parse, prepare, prepare_module, program, stack};
use super::constructs::{CONSTRUCTS, TYPES};

/// Chains that the parser follows in a loop.
const CHAINS: &[(&str, &str)] = &[
    ("a.", "a"),
    ("a+", "a"),
    ("a-", "a"),
    ("a*", "a"),
    ("a&&", "a"),
    ("a||", "a"),
    ("a??", "a"),
    ("a,", "a"),
    ("a?.b.", "a"),
    ("a==", "a"),
    ("a|", "a"),
    ("!a&&", "a"),
    ("-a+", "a"),
    ("a in ", "a"),
    ("await a;", "a"),
    ("a;", "a"),
    ("a=1;", "a"),
    ("a=1\n", "a"),
    ("if(a){}\n", "a"),
    ("if(a){}else{}\n", "a"),
    ("const f = () => 1\n", "a"),
    ("x=>x;", "a"),
    ("a<b&&", "a"),
    ("a<b;", "a"),
    ("f(a<b);", "a"),
    ("({a:1});", "a"),
    ("[1,2];", "a"),
    ("a?b:c;", "a"),
    ("a?b:c\n", "a"),
    ("await a\n", "a"),
    ("`${a}`+", "a"),
    ("new A;", "a"),
    ("/(/;", "a"),
    ("var a = {b: 1, c: 2}\n", "a"),
];

fn from_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(512 * 1024).spawn(work).unwrap().join().unwrap()
}

fn timed(source: String) -> (Duration, Result<(), Refusal>) {
    from_small_stack(move || {
        let start = Instant::now();
        let result = prepare(&source).map(drop);
        let took = start.elapsed();
        let _ = prepare_module(&source);
        (took, result)
    })
}

fn sources(open: &str, close: &str, levels: usize) -> Vec<String> {
    vec![
        format!("{}1{}", open.repeat(levels), close.repeat(levels)),
        open.repeat(levels),
        format!("x={}1{}", open.repeat(levels), close.repeat(levels)),
        format!("let x: number;{}1{}", open.repeat(levels), close.repeat(levels)),
        format!("f({}1{}", open.repeat(levels), close.repeat(levels)),
        format!("{}1{};\n", open.repeat(5), close.repeat(5)).repeat(levels / 5),
        format!("{}1{};\n", open.repeat(14), close.repeat(14)).repeat(levels / 14),
    ]
}

#[test]
fn no_nesting_ends_the_process_or_takes_long() {
    let types = TYPES.iter().map(|(open, close)| ("type X = ", *open, *close));
    let constructs = CONSTRUCTS.iter().map(|(open, close)| ("", *open, *close));
    let mut slow = Vec::new();
    for (before, open, close) in types.chain(constructs) {
        let mut largest = sources(open, close, 256 * 1024 / (open.len() + close.len()));
        largest.extend(sources(open, close, 100_000));
        largest.extend(sources(open, close, 900));
        largest.extend(sources(open, close, 490));
        for source in largest {
            let mut source = format!("{before}{source}");
            source.truncate(source.floor_char_boundary(256 * 1024));
            let (took, _) = timed(source);
            if took > Duration::from_millis(100) {
                slow.push((before, open, took));
            }
        }
    }
    // Linear work takes a tenth of that, even where a text is read several times; a square would take minutes.
    let longest = slow.iter().map(|(_, _, took)| *took).max().unwrap_or_default();
    assert!(longest < Duration::from_secs(3), "{slow:?}");
}

/// What the parser reads again and again, so that its time grows with the square.
const SQUARE: &[&str] = &[
    "(a=",
    "({a=",
    "([a=",
    "({a}=",
    "(a,b=",
    "async(a=",
    "async<T>(a=",
    "a<",
    "a<b,",
    "a<(",
    "a<[",
    "a<{a:",
    "a<b<",
    "a<typeof a<",
    "a?(b=",
    "a?(b):c=>",
    "a?async(b):c=>",
    "{}/(a=",
    "a<!--",
    "@(",
    "@a(",
    "f<T>(",
    "<T>(",
];

#[test]
fn the_stack_is_deep_enough_without_the_scan() {
    let types = TYPES.iter().map(|(open, close)| ("type X = ", *open, *close));
    let constructs = CONSTRUCTS.iter().map(|(open, close)| ("", *open, *close));
    for (before, open, close) in types.chain(constructs) {
        let levels = if SQUARE.contains(&open) { 800 } else { 20_000 };
        for end in [close, ""] {
            let source = format!("{before}{}1{}", open.repeat(levels), end.repeat(levels));
            from_small_stack(move || {
                let (need, _) = stack::need(&source);
                stack::with_room(need, || parse::with_arena(|arena| program(arena, &source).map(drop))).is_ok()
            });
        }
    }
}

#[test]
fn long_chains_pass() {
    for (link, end) in CHAINS {
        for links in [5_000, 20_000] {
            let (_, result) = timed(format!("{}{end}", link.repeat(links)));
            assert_eq!((*link, result), (*link, Ok(())));
        }
    }
}

#[test]
fn levels() {
    for (open, close) in [("(", ")"), ("[", "]"), ("[", "]"), ("`${", "}`"), ("f(", ")")] {
        let source = |levels: usize| format!("{}1{}", open.repeat(levels), close.repeat(levels));
        assert_eq!(prepare(&source(1000)).map(drop), Ok(()));
        let refusal = prepare(&source(1001)).unwrap_err();
        assert_eq!(refusal.message, "nested deeper than 1000 levels");
    }
}
