use super::*;

pub(super) mod constructs;
mod hostile;

/// Asserts what a program becomes, where nothing else is to be said about it.
pub(super) fn becomes(source: &str, code: &str) {
    becomes_with(source, code, &[], &[], None);
}

/// Asserts all that is said about a program but its positions.
pub(super) fn becomes_with(source: &str, code: &str, notes: &[&str], imports: &[&str], value_name: Option<&str>) {
    let prepared = prepare(source).unwrap_or_else(|refusal| panic!("{source}: {refusal:?}"));
    assert_eq!(prepared.code, code, "{source}");
    assert_eq!(prepared.notes, notes, "{source}");
    assert_eq!(prepared.imports, imports, "{source}");
    assert_eq!(prepared.value_name.as_deref(), value_name, "{source}");
}

/// Asserts the reason, the hint and the place of a refusal that is about the program's text.
pub(super) fn is_refused(source: &str, message: &str, hint: Option<&str>, place: (u32, u32)) {
    let refusal = prepare(source).map(|prepared| prepared.code).unwrap_err();
    let at = Some(Place { line: place.0, column: place.1 });
    let expected =
        Refusal { kind: RefusalKind::Syntax, message: message.to_owned(), hint: hint.map(str::to_owned), at };
    assert_eq!(refusal, expected, "{source}");
}

/// Asserts a refusal of a text that is no program.
pub(super) fn is_not_javascript(source: &str, message: &str) {
    assert_eq!(prepare(source).map(|prepared| prepared.code), Err(not_javascript(message.to_owned())), "{source}");
}
