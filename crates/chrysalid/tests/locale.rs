//! The order of texts by `localeCompare`.
//!
//! `cases/web/locale_order.json` holds lists in the order of Node 20 (ICU 78), texts that are equal side by side: every
//! pair of a list is compared. `locale_compare.json` holds single pairs; where a row has a `node`, Node gives that, and we
//! differ: letters of rarer scripts and signs are ordered by code point.

use std::path::Path;
use std::time::Duration;

use chrysalid::{Capabilities, FailureKind, Heap, Value};
use serde_json::{Value as Json, json};

use crate::support::{ENGINE, eval, fails, json, run, session, text, with_limits};

fn rows(name: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/web").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A program that compares every pair of the groups and gives those that are out of order.
fn wrong_pairs(row: &Json) -> String {
    format!(
        "{{ const groups = {}, options = {}, wrong = [];
           const all = groups.flatMap((group, rank) => group.map((text) => ({{ text, rank }})));
           for (const a of all) for (const b of all)
             if (a.text.localeCompare(b.text, 'en', options) !== Math.sign(a.rank - b.rank)) wrong.push([a.text, b.text]);
           wrong }}",
        row["order"], row["options"]
    )
}

#[test]
fn ascii_latin_1_extended_a_and_words_are_in_the_order_of_icu() {
    let mut session = session();
    let lists = rows("locale_order.json");
    assert_eq!(lists.len(), 11);
    for row in lists {
        assert_eq!(eval(&mut session, &wrong_pairs(&row)), json(json!([])), "{} {}", row["of"], row["options"]);
    }
}

#[test]
fn single_pairs() {
    let mut session = session();
    for row in rows("locale_compare.json") {
        let or_undefined = |key: &str| row.get(key).map_or_else(|| "undefined".to_owned(), Json::to_string);
        let source = format!(
            "{}.localeCompare({}, {}, {})",
            row["a"],
            row["b"],
            or_undefined("locale"),
            or_undefined("options")
        );
        assert_eq!(eval(&mut session, &source), json(row["gives"].clone()), "{row}");
        let back = format!(
            "-{}.localeCompare({}, {}, {})",
            row["b"],
            row["a"],
            or_undefined("locale"),
            or_undefined("options")
        );
        assert_eq!(eval(&mut session, &format!("{back} + 0")), json(row["gives"].clone()), "the other way: {row}");
    }
}

#[test]
fn a_list_sorted_as_programs_sort() {
    let mut session = session();
    for (source, sorted) in [
        ("['é','z','a','Z','A','e'].sort((a, b) => a.localeCompare(b)).join(' ')", "a A e é z Z"),
        (
            "['item 10','item 9','Item 1'].sort((a, b) => a.localeCompare(b, undefined, { numeric: true })).join()",
            "Item 1,item 9,item 10",
        ),
        ("['_b','b','-b','1b','$b',' b'].toSorted((a, b) => a.localeCompare(b)).join()", " b,_b,-b,$b,1b,b"),
        ("['b', 'a'].sort().join() + ['Z', 'a', 'é'].toSorted().join('')", "a,bZaé"),
    ] {
        assert_eq!(eval(&mut session, source), text(sorted), "{source}");
    }
}

#[test]
fn arguments_are_read_as_the_language_reads_them() {
    let mut session = session();
    assert_eq!(
        eval(
            &mut session,
            "[String.prototype.localeCompare.length, String.prototype.localeCompare.name, 'undefined'.localeCompare(),
              'null'.localeCompare(null), '5'.localeCompare(5), String.prototype.localeCompare.call(7, '7'),
              'a'.localeCompare('b', 'no such locale'), 'a'.localeCompare('b', 'en', 5),
              'a10'.localeCompare('a9', ['en-u-kn']), 'a'.localeCompare('b', 'en', { usage: 'search' }),
              Object.keys(String.prototype).length]"
        ),
        json(json!([1, "localeCompare", 0, 0, 0, 0, -1, -1, 1, -1, 0]))
    );
    for (source, message) in [
        ("'a'.localeCompare('b', 'en', null)", "TypeError: Cannot convert undefined or null to object"),
        (
            "'a'.localeCompare('b', 'en', { sensitivity: 'x' })",
            "RangeError: Value x out of range for String.prototype.localeCompare options property sensitivity",
        ),
        (
            "'a'.localeCompare('b', 'en', { caseFirst: 'x' })",
            "RangeError: Value x out of range for String.prototype.localeCompare options property caseFirst",
        ),
        ("'a'.localeCompare('b', 'en', { get numeric() { throw new RangeError('mine') } })", "RangeError: mine"),
        ("'a'.localeCompare({ toString() { throw new RangeError('text') } })", "RangeError: text"),
        ("String.prototype.localeCompare.call(null, '')", "TypeError: null or undefined are forbidden"),
    ] {
        assert_eq!(fails(&mut session, source).to_string(), message, "{source}");
    }
}

#[test]
fn an_order_is_an_order_for_texts_of_any_kind() {
    let mut session = session();
    let source = "const parts = ['a', 'B', '\\u0301', '-', '\\u00ad', '1', '01', '\\ud83d', '\\ude00', '\\u0438\\u0306', '\\u30a2', '\\ufb01', '\\u0000'];
        const texts = ['']; for (const a of parts) for (const b of parts) texts.push(a, a + b, b + a + b);
        let wrong = 0;
        for (const options of [undefined, { numeric: true }, { ignorePunctuation: true }, { sensitivity: 'base' }]) {
          const sorted = texts.toSorted((a, b) => a.localeCompare(b, 'en', options));
          for (let i = 0; i < sorted.length; i += 3) for (let j = i; j < sorted.length; j += 5) {
            const order = sorted[i].localeCompare(sorted[j], 'en', options);
            if (order > 0 || order !== -sorted[j].localeCompare(sorted[i], 'en', options)) wrong++;
          }
        }
        wrong";
    assert_eq!(eval(&mut session, source), json(json!(0)));
}

#[test]
fn long_texts_take_time_in_proportion() {
    let mut session = session();
    let source = "const a = 'a'.repeat(1000000), e = 'é'.repeat(200000), d = '9'.repeat(200000);
        [a.localeCompare(a + 'b'), e.localeCompare(e + 'a'), e.localeCompare('e'.repeat(200000)),
          d.localeCompare(d + '1', 'en', { numeric: true }), (a + 'é').localeCompare(a + 'z')]";
    assert_eq!(eval(&mut session, source), json(json!([-1, -1, 1, -1, -1])));
    let marks = "const m = '\\u0301\\u0316'.repeat(50000); m.localeCompare(m + '\\u0301')";
    assert_eq!(eval(&mut session, marks), Value::from(-1));
    let order = "const long = 'a'.repeat(300); (long + '\\u0301\\u0316').localeCompare(long + '\\u0316\\u0301')";
    assert_eq!(eval(&mut session, order), Value::from(0));
}

#[test]
fn a_comparison_of_huge_texts_is_stopped_with_the_heap_intact() {
    let options = with_limits(|limits| limits.cpu_time = Duration::from_secs(1));
    let mut session = ENGINE.session_with(&Capabilities::none(), options).unwrap();
    eval(&mut session, "const huge = 'é'.repeat(300000); const kept = 7;");
    let ended = run(&mut session, "for (;;) huge.localeCompare(huge + 'a');");
    assert_eq!(ended.result.unwrap_err().kind, FailureKind::Timeout);
    assert_eq!(ended.heap, Heap::Intact);
    assert_eq!(eval(&mut session, "kept"), json(json!(7)));
}
