//! Names of properties that a text gives literally.

use std::borrow::Cow;

use oxc_ast::ast::{Expression, NumericLiteral, PropertyKey, Str, StringLiteral, TemplateLiteral};

/// The name that an expression is for sure when it stands in brackets.
pub(super) fn of_expression<'e>(expression: &'e Expression) -> Option<Cow<'e, str>> {
    match expression.get_inner_expression() {
        Expression::StringLiteral(literal) => of_string(literal).map(Cow::Borrowed),
        Expression::TemplateLiteral(literal) => of_template(literal).map(Cow::Borrowed),
        Expression::NumericLiteral(literal) => of_number(literal).map(Cow::Borrowed),
        _ => None,
    }
}

/// The name of a property of an object or of a pattern.
pub(super) fn of_property<'e>(key: &'e PropertyKey, computed: bool) -> Option<Cow<'e, str>> {
    match key {
        PropertyKey::StaticIdentifier(name) if !computed => Some(Cow::Borrowed(name.name.as_str())),
        _ => of_expression(key.as_expression()?),
    }
}

pub(super) fn of_string<'e>(literal: &'e StringLiteral) -> Option<&'e str> {
    // Octal escapes are read in some modes only.
    let octal = |pair: &[u8]| matches!(pair, [b'\\', digit] if digit.is_ascii_digit());
    let plain = literal.raw.is_some_and(|raw| !raw.as_bytes().windows(2).any(octal));
    (plain && !literal.lone_surrogates).then_some(literal.value.as_str())
}

/// The text of a template without substitutions.
pub(super) fn of_template<'e>(literal: &'e TemplateLiteral) -> Option<&'e str> {
    match literal.quasis.as_slice() {
        [only] if literal.expressions.is_empty() && !only.lone_surrogates => {
            only.value.cooked.as_ref().map(Str::as_str)
        }
        _ => None,
    }
}

/// A whole number in its plain form, whose name is how it is written.
fn of_number<'e>(literal: &'e NumericLiteral) -> Option<&'e str> {
    let raw = literal.raw.as_ref()?.as_str();
    let plain =
        raw == "0" || (!raw.starts_with('0') && raw.len() <= 15 && raw.bytes().all(|byte| byte.is_ascii_digit()));
    plain.then_some(raw)
}
