//! What holds for every text, whatever the program chose.

use proptest::prelude::*;

use super::*;
use crate::report::guard::TAGS;

/// The elements of a text in order. Fails unless each tag is there once as a pair, the opening one at the start of a
/// line and the closing one on a line of its own, and nothing else in the text reads as a tag.
pub(super) fn elements(text: &str) -> Vec<&str> {
    let lower = text.to_lowercase();
    let mut seen = Vec::new();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix("(no output)") {
        rest = after.trim_start_matches('\n');
    }
    while let Some((tag, body)) = rest.strip_prefix('<').and_then(|rest| rest.split_once(">\n")) {
        assert!(TAGS.contains(&tag), "{text}");
        let (_, after) = body.split_once(&format!("\n</{tag}>")).unwrap();
        seen.push(tag);
        rest = after.strip_prefix('\n').unwrap_or(after);
    }
    assert_eq!(rest, "", "{text}");
    let tags: usize = lower
        .match_indices('<')
        .filter_map(|(at, _)| lower.get(at + 1..))
        .map(|rest| rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/' || c == '\u{200d}'))
        .filter(|rest| TAGS.iter().any(|tag| rest.starts_with(tag)))
        .count();
    assert_eq!(tags, 2 * seen.len(), "{text}");
    assert!(seen.is_sorted_by_key(|tag| TAGS.iter().position(|known| known == tag)), "{text}");
    seen
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,20}",
        any::<String>(),
        prop::sample::select(TAGS.to_vec()).prop_flat_map(|tag| {
            prop::sample::select(vec!["<", "</", "< /\n", "<\u{200d}", "<//", "]]>"])
                .prop_map(move |open| format!("{open}{tag}>"))
        }),
        prop::sample::select(vec![
            "<",
            "\n",
            "<\n",
            "/result>",
            "👩\u{200d}👦",
            "e\u{301}",
            "\u{1b}[2J",
            "\u{202e}",
            "🇩🇪",
            "\r"
        ])
        .prop_map(String::from),
        (0..400usize).prop_map(|count| "x".repeat(count)),
        (0..60usize).prop_map(|count| "line\n".repeat(count)),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(part(), 0..8).prop_map(|parts| parts.concat())
}

fn failure() -> impl Strategy<Value = Failure> {
    (words(), words(), words(), words(), prop::option::of((words(), 0..50usize))).prop_map(
        |(name, message, cause, hint, position)| {
            let cause = Some(Value::from(ErrorValue::new(cause.as_str(), cause.as_str())));
            let failure = uncaught(ErrorValue { cause, ..ErrorValue::new(name, message) });
            let position = position.map(|(source_line, caret)| Position { line: 1, column: 1, source_line, caret });
            Failure { hint: Some(hint.clone()), stack: hint, position, ..failure }
        },
    )
}

fn outcome() -> impl Strategy<Value = Outcome> {
    let all = (0..4, words(), failure(), prop::collection::vec(words(), 0..5), prop::collection::vec(words(), 0..5));
    all.prop_map(|(kind, word, failure, names, notes)| {
        let logs = logs(names.iter().cloned());
        let statuses = [CallStatus::Completed, CallStatus::Unknown, CallStatus::Failed, CallStatus::Abandoned];
        let calls =
            names.iter().zip(statuses).zip(1..).map(|((name, status), number)| call(number, name, status)).collect();
        let pending = names.iter().zip(1..).map(|(name, number)| waiting(number, name, name.as_str().into())).collect();
        match kind {
            0 => Outcome::Done(Ended { logs, notes, calls, ..ended(Ok(Value::Undefined)) }),
            1 => Outcome::Done(Ended { value_name: Some(word.clone()), logs, notes, calls, ..ended(Ok(word.into())) }),
            2 => Outcome::Failed(Ended { logs, notes, calls, ..ended(Err(failure)) }),
            _ => Outcome::Paused(Pause { logs, notes, calls, wake_at: Some(day()), ..pause(pending) }),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn texts_are_bounded_and_well_formed(outcome in outcome(), other in outcome(), mixed: bool, budget in 200..3000usize) {
        let mut report = Report::of(&outcome);
        if mixed {
            let other = Report::of(&other);
            report.error = report.error.or(other.error);
            report.rendered = report.rendered.or(other.rendered);
        }
        let text = report.text(&ReportStyle::with_budget(budget));
        prop_assert!(length(&text) <= budget, "{} > {budget}", length(&text));
        let seen = elements(&text);
        prop_assert_eq!(seen.contains(&"error"), report.error.is_some());
        prop_assert_eq!(seen.contains(&"stdout"), !report.logs.is_empty());
        let hidden = |symbol: char| symbol.is_control() && !matches!(symbol, '\n' | '\t') || matches!(symbol, '\u{202a}'..='\u{202e}');
        prop_assert!(!text.contains(hidden) && !text.contains("]]>"));
    }
}
