//! Searches with regular expressions, which look through the places of a text at once where they can (`guest/search.h`):
//! each finds what the same expression finds when it is tried at one place after the other.

use std::time::Duration;

use chrysalid::{FailureKind, Heap, Value};

use crate::support::{World, eval, run, session, text, with_limits};

/// What begins with a character, a range, the text's start, or with what cannot be looked for.
const PATTERNS: &str = r#"["a", "b", "ab", "abc", "aab", "ba+", "a*", "a+b", "(a)", "((b)c)", "(?<n>ab)c?", "(?:a|b)c", "[ab]", "[b-d]", "[^a]", "[^]",
    "\\d", "\\d+", "\\w\\d", "\\s", "\\S", ".", "^", "^a", "^(b)", "$", "a$", "^$", "\\b", "\\bb", "\\Ba", "(?=b)", "(?=b)b", "(?!a)b", "(?<=a)b",
    "(?<!a)b", "()b", "(a)|b", "(a)?b", "(b)\\1", "[^]*?b", "[^]*b", "(?:[^]*?)c", "a|^", "é", "ß", "ÿ", "[à-ÿ]", "Ā", "[Ā-�]", "😀", "[😀]", "\ud83d", "\ude00",
    "[\ud800-\udfff]", "\uffff", "[\ufffe-\uffff]", "x", "(x)", "", "a{2}", "a{2,}b", "(?:ab){2}", "(ab|a)(c|bcd)?", "\u0000"]"#;

const TEXTS: &str = r#"["", "a", "b", "aaab", "abcabc", "xxabxx", "ba1 b22", "\na\nb", "aaaaaaaaaaaaaaaaaab", "zzzz", "éaßbÿ", "aé", "aĀb", "Ā", "bbĀabc", "😀", "a😀b",
    "\ud83d", "\ude00a", "a\ud83db\ude00", "\uffffa", "a\ufffe", "\u0000a\u0000", "ab\u2028ab", "abababab", "c".repeat(300) + "ab"]"#;

#[test]
fn a_search_finds_what_is_found_place_by_place() {
    let source = format!(
        "const told = (m) => m && JSON.stringify([m.index, ...m, m.groups ?? null]);
         const wrong = [];
         let found = 0;
         for (const p of {PATTERNS}) for (const flags of ['', 'i', 'm', 's', 'u', 'iu']) {{
           let all, one;
           try {{ all = new RegExp(p, flags + 'g'); one = new RegExp(p, flags + 'y') }} catch {{ continue }}
           for (const t of {TEXTS}) for (let from = 0; from <= Math.min(t.length, 4); from++) {{
             all.lastIndex = from;
             const m = told(all.exec(t));
             let expected = null;
             for (let at = from; at <= t.length && expected === null; at++) {{
               one.lastIndex = at;
               const tried = one.exec(t);
               if (tried) expected = told(tried);
             }}
             if (m) found++;
             if (m !== expected) wrong.push([p, flags, JSON.stringify(t), from, m, expected].join(' | '));
           }}
         }}
         wrong.slice(0, 9).join('\\n') + (found > 10000 ? '' : `only ${{found}} found`)"
    );
    assert_eq!(eval(&mut session(), &source), text(""));
}

#[test]
fn every_match_of_a_text_is_found() {
    let source = r#"const t = "item 12, item 7; items 305 at 9:41 — ítem 5".repeat(3);
        [t.match(/\d+/g).join(), t.match(/item/g).length, t.replace(/item/g, "x").length, t.split(/, |; /).length, t.search(/ítem/),
         [...t.matchAll(/(i)(t)em/g)].map((m) => m.index).join(), t.replace(/^item/, "first").indexOf("first"), /^ /.test(t), t.search(/$/)].join(" ")"#;
    let expected = "12,7,305,9,41,5,12,7,305,9,41,5,12,7,305,9,41,5 9 102 7 37 0,9,17,43,52,60,86,95,103 0 false 129";
    assert_eq!(eval(&mut session(), source), text(expected));
}

#[test]
fn a_search_that_takes_long_is_stopped_with_its_heap_sound() {
    // The limit leaves ten milliseconds between the program's stop and the trap.
    let mut session = World::new().session_with(with_limits(|limits| limits.cpu_time = Duration::from_millis(60)));
    eval(&mut session, "let kept = 7");
    for source in [
        "const t = 'a'.repeat(20e6); for (;;) /b/.test(t)",
        "const t = 'a'.repeat(1e5); /(?:a+)+b/.test(t)",
        "/a.*?b/s.test('a'.repeat(1e6))",
        "/<!--.*?-->/s.test('<!--'.repeat(3e5))",
        "new RegExp('(?=.*?b)'.repeat(3000) + 'x', 's').test('a'.repeat(1e6) + 'b')",
    ] {
        let ended = run(&mut session, source);
        assert_eq!(ended.result.map_err(|failure| failure.kind), Err(FailureKind::Timeout), "{source}");
        assert_eq!(ended.heap, Heap::Intact, "{source}");
        assert_eq!(eval(&mut session, "kept"), Value::from(7), "{source}");
    }
}
