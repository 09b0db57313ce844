use super::{Braces, MAX_LEVELS, Reason, TooDeep, check, last_braces, unclosed};

fn too_deep(at: usize) -> Result<(), TooDeep> {
    Err(TooDeep { at, reason: Reason::Levels })
}

#[test]
fn the_level_that_is_too_much_is_named() {
    assert_eq!(check(&"(".repeat(1000)), Ok(()));
    assert_eq!(check(&"(".repeat(1001)), too_deep(1000));
    assert_eq!(check(&format!("/* ( */ \"((\" + `(` + /[/(]/ + {}", "[".repeat(1001))), too_deep(1030));
    for link in [
        "!",
        "~",
        "a=>",
        "a?b:",
        "a=",
        "if(1)",
        "a:",
        "new ",
        "typeof ",
        "2**",
        "for(;;)",
        "while(a)",
        "`${",
        "else if(1)",
    ] {
        let levels = usize::try_from(MAX_LEVELS).unwrap() + 1;
        assert!(matches!(check(&link.repeat(levels)), Err(TooDeep { reason: Reason::Levels, .. })), "{link}");
        assert_eq!(check(&link.repeat(400)), Ok(()), "{link}");
    }
}

#[test]
fn what_is_closed_does_not_count() {
    for piece in [
        "(1);",
        "[1];",
        "{}",
        "!a;",
        "a = b;\n",
        "a = b\n",
        "f(x => y)\n",
        "if (a) b\n",
        "if (a) { b }\n",
        "`${a}`;",
        "a ? b : c,",
        "case 1: b;",
        "x = {a: 1, b: 2}\n",
        "const f = async () => { await g() }\n",
        "for (const a of b) c(a);",
        "do { a } while (b);",
        "label: for (;;) {}\n",
        "a < b && ",
        "-a + ",
        "class A { x = 1\n y = 2\n }\n",
        "type T = A<B<C>>;\n",
        "'(';",
        "\"[\";",
        "/(/.test(a);",
        "a.if(b) / c;",
        "return\n",
        "a++\n",
        "// (\n",
        "/* ( */",
    ] {
        assert_eq!(check(&piece.repeat(3000)), Ok(()), "{piece}");
    }
}

#[test]
fn guesses_within_guesses_are_few() {
    let guesses = |open: &str, count: usize| check(&open.repeat(count)).map_err(|deep| deep.reason);
    assert_eq!(guesses("(a=", 5), Ok(()));
    assert_eq!(guesses("(a=", 6), Err(Reason::Guesses));
    assert_eq!(guesses("a<b,", 16), Ok(()));
    assert_eq!(guesses("a<b,", 17), Err(Reason::Guesses));
    assert_eq!(guesses("a?(b):c=>", 17), Err(Reason::Guesses));
    // Behind a brace a `/` may hide things, so little may stand there.
    assert_eq!(guesses("({}/(a=0/1+", 40), Err(Reason::Guesses));
    assert_eq!(guesses("{}/a/;", 32), Ok(()));
    assert_eq!(guesses("{}/a/;", 33), Err(Reason::Unclear));
    assert_eq!(guesses(&format!("{{}}/{}/;", "x".repeat(80)), 1), Err(Reason::Unclear));
}

#[test]
fn braces_at_the_end_are_found() {
    let braces = |open, close, cast| Some(Braces { open, close, cast });
    assert_eq!(last_braces("a; { b: 1 }"), braces(3, 10, false));
    assert_eq!(last_braces("{ a } { \"b\": {} }; // c"), braces(6, 16, false));
    assert_eq!(last_braces("`{${a}`\n{ b }"), braces(8, 12, false));
    assert_eq!(last_braces("{ a } as const"), braces(0, 4, true));
    assert_eq!(last_braces("{ a } satisfies { a: [1] }; // c"), braces(0, 4, true));
    assert_eq!(last_braces("x = { a } as const\n{ b }"), braces(19, 23, false));
    for text in ["", "a", "{ a }; b", "f({ a })", "{ a", "{ a } [b]", "{ a } as const; b", "x = { a } as const"] {
        assert_eq!(last_braces(text), None, "{text}");
    }
}

#[test]
fn the_innermost_open_bracket_is_found() {
    assert_eq!(unclosed("f({ a: [1, 2]"), Some(2));
    assert_eq!(unclosed("`${a"), Some(2));
    assert_eq!(unclosed("f()"), None);
}
