//! `enum` as a constant with the meaning that TypeScript gives it at run time.
//!
//! `enum E { A, B = "b" }` becomes `const E = (E => { E[E["A"] = 0] = "A"; E["B"] = "b"; return E; })({});`, each
//! member at its place. Members whose value is known are written as that value.

use std::collections::HashMap;

use oxc_ast::ast::{
    BinaryOperator, Expression, IdentifierReference, TSEnumDeclaration, TSEnumMember, TSEnumMemberName,
    TemplateLiteral, UnaryOperator,
};
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

use super::Rewriter;

/// The values of an enum's members, `None` where it is known only at run time.
pub(super) type Constants = HashMap<String, Option<Constant>>;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constant {
    Number(f64),
    Text(String),
    /// Text that is too long to be written again at each use.
    LongText,
}

impl Constant {
    fn text(text: String) -> Self {
        if text.len() > LONG_TEXT { Self::LongText } else { Self::Text(text) }
    }
}

const LONG_TEXT: usize = 128;

/// Bytes; the name is written again for each member.
const LONG_NAME: usize = 128;

impl<'a> Rewriter<'a> {
    pub(super) fn enumeration(&mut self, declaration: &TSEnumDeclaration<'a>) {
        let name = declaration.id.name.as_str();
        self.check_name(name, declaration.id.span.start);
        if name.len() > LONG_NAME {
            return self.refuse(declaration.span.start, "the enum's name is too long", "use at most 128 bytes");
        }
        let mut members = Members { name, known: HashMap::new(), outer: &self.enums, next: Some(0.0) };
        let mut changes = Vec::with_capacity(declaration.body.members.len());
        for member in &declaration.body.members {
            match members.member(member) {
                Ok(change) => changes.push((member, change)),
                Err((message, hint)) => return self.refuse(member.span.start, message, hint),
            }
        }
        let known = members.known;
        self.enums.insert(name, known);
        let body = declaration.body.span;
        self.edits.replace(Span::new(declaration.span.start, body.start + 1), format!("const {name} = ({name} => {{"));
        for (member, change) in changes {
            let span = member.span;
            match change {
                Change::Whole(text) => self.edits.replace(span, text),
                Change::Around { initializer, before, after, uses } => {
                    if let Some(expression) = &member.initializer {
                        self.visit_expression(expression);
                    }
                    self.edits.replace(Span::new(span.start, initializer.start), before);
                    for (span, text) in uses {
                        self.edits.replace(span, text);
                    }
                    self.edits.insert(initializer.end, after);
                }
            }
            if let Some(comma) = self.next_if(span.end, ',') {
                self.edits.blank(comma, comma + 1);
            }
        }
        self.edits.replace(Span::new(body.end - 1, body.end), format!("return {name}; }})({{}});"));
    }
}

/// What becomes of a member.
enum Change {
    Whole(String),
    /// Text around an initializer, in which members of the same enum are written in full.
    Around {
        initializer: Span,
        before: String,
        after: String,
        uses: Vec<(Span, String)>,
    },
}

struct Members<'r, 'a> {
    name: &'a str,
    known: Constants,
    outer: &'r HashMap<&'a str, Constants>,
    /// The value of a member without initializer; `None` behind one that is not a number.
    next: Option<f64>,
}

impl<'a> Members<'_, 'a> {
    fn member(&mut self, member: &TSEnumMember<'a>) -> Result<Change, (String, &'static str)> {
        let (name, enumeration) = (member_name(&member.id), self.name);
        let quoted = quote(&name);
        let value = match &member.initializer {
            None => Some(Constant::Number(self.next.ok_or_else(|| {
                (format!("the enum member `{name}` needs a value"), "a member counts on from a number only")
            })?)),
            Some(initializer) => self.value(initializer),
        };
        self.next = match &value {
            Some(Constant::Number(number)) => Some(number + 1.0),
            _ => None,
        };
        let change = match (&value, &member.initializer) {
            (Some(Constant::Number(number)), _) => {
                Change::Whole(format!("{enumeration}[{enumeration}[{quoted}] = {}] = {quoted};", number_text(*number)))
            }
            (Some(Constant::Text(text)), _) => Change::Whole(format!("{enumeration}[{quoted}] = {};", quote(text))),
            (None | Some(Constant::LongText), Some(initializer)) => {
                let (before, after) = if value.is_some() || is_text(initializer) {
                    (format!("{enumeration}[{quoted}] = "), ";".to_owned())
                } else {
                    (format!("{enumeration}[{enumeration}[{quoted}] = "), format!("] = {quoted};"))
                };
                Change::Around { initializer: initializer.span(), before, after, uses: self.uses(initializer) }
            }
            (_, None) => Change::Whole(String::new()),
        };
        self.known.insert(name, value);
        Ok(change)
    }

    /// The value of an expression over literals and members, if it has one here.
    fn value(&self, expression: &Expression<'a>) -> Option<Constant> {
        match expression {
            Expression::NumericLiteral(literal) => Some(Constant::Number(literal.value)),
            Expression::StringLiteral(literal) if !literal.lone_surrogates => {
                Some(Constant::text(literal.value.to_string()))
            }
            Expression::StringLiteral(_) => Some(Constant::LongText),
            Expression::TemplateLiteral(template) => self.template(template),
            Expression::ParenthesizedExpression(inner) => self.value(&inner.expression),
            Expression::Identifier(identifier) => match identifier.name.as_str() {
                name if self.known.contains_key(name) => self.known.get(name)?.clone(),
                "NaN" => Some(Constant::Number(f64::NAN)),
                "Infinity" => Some(Constant::Number(f64::INFINITY)),
                _ => None,
            },
            Expression::StaticMemberExpression(member) => self.of_enum(&member.object, &member.property.name),
            Expression::ComputedMemberExpression(member) => match &member.expression {
                Expression::StringLiteral(name) => self.of_enum(&member.object, &name.value),
                _ => None,
            },
            Expression::UnaryExpression(unary) => {
                let Constant::Number(number) = self.value(&unary.argument)? else { return None };
                match unary.operator {
                    UnaryOperator::UnaryPlus => Some(Constant::Number(number)),
                    UnaryOperator::UnaryNegation => Some(Constant::Number(-number)),
                    UnaryOperator::BitwiseNot => Some(Constant::Number(f64::from(!to_int32(number)))),
                    _ => None,
                }
            }
            Expression::BinaryExpression(binary) => {
                binary_value(self.value(&binary.left)?, binary.operator, self.value(&binary.right)?)
            }
            _ => None,
        }
    }

    fn of_enum(&self, object: &Expression<'a>, member: &str) -> Option<Constant> {
        let Expression::Identifier(identifier) = object else { return None };
        let name = identifier.name.as_str();
        let known = if name == self.name { &self.known } else { self.outer.get(name)? };
        known.get(member)?.clone()
    }

    fn template(&self, template: &TemplateLiteral<'a>) -> Option<Constant> {
        let mut text = String::new();
        let mut values = template.expressions.iter();
        for quasi in &template.quasis {
            if quasi.lone_surrogates {
                return None;
            }
            text.push_str(quasi.value.cooked.as_ref()?);
            if let Some(expression) = values.next() {
                match self.value(expression)? {
                    Constant::LongText => return Some(Constant::LongText),
                    Constant::Text(value) => text.push_str(&value),
                    Constant::Number(number) => text.push_str(&plain_number(number)?),
                }
            }
            if text.len() > LONG_TEXT {
                return Some(Constant::LongText);
            }
        }
        Some(Constant::text(text))
    }

    /// Where an expression names members of this enum, and what stands there outside of TypeScript.
    fn uses(&self, expression: &Expression<'a>) -> Vec<(Span, String)> {
        let mut uses = Uses { known: &self.known, found: Vec::new() };
        uses.visit_expression(expression);
        let found = uses.found.into_iter();
        found.map(|(span, name)| (span, format!("{}[{}]", self.name, quote(name)))).collect()
    }
}

struct Uses<'r, 'a> {
    known: &'r Constants,
    found: Vec<(Span, &'a str)>,
}

impl<'a> VisitJs<'a> for Uses<'_, 'a> {
    fn visit_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) {
        let name = identifier.name.as_str();
        if self.known.contains_key(name) {
            self.found.push((identifier.span, name));
        }
    }
}

fn member_name(name: &TSEnumMemberName) -> String {
    match name {
        TSEnumMemberName::Identifier(name) => name.name.to_string(),
        TSEnumMemberName::String(name) | TSEnumMemberName::ComputedString(name) => name.value.to_string(),
        TSEnumMemberName::ComputedTemplateString(name) => name
            .quasis
            .first()
            .and_then(|quasi| quasi.value.cooked.as_ref())
            .map(ToString::to_string)
            .unwrap_or_default(),
    }
}

/// Whether an expression is text by its form alone; such a member has no way back from its value.
fn is_text(expression: &Expression) -> bool {
    match expression {
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => true,
        Expression::ParenthesizedExpression(inner) => is_text(&inner.expression),
        Expression::BinaryExpression(binary) => {
            binary.operator == BinaryOperator::Addition && (is_text(&binary.left) || is_text(&binary.right))
        }
        _ => false,
    }
}

fn binary_value(left: Constant, operator: BinaryOperator, right: Constant) -> Option<Constant> {
    let (left, right) = match (left, right) {
        (Constant::Number(left), Constant::Number(right)) => (left, right),
        (left, right) if operator == BinaryOperator::Addition => {
            if left == Constant::LongText || right == Constant::LongText {
                return Some(Constant::LongText);
            }
            let text = |constant| match constant {
                Constant::Text(text) => Some(text),
                Constant::Number(number) => plain_number(number),
                Constant::LongText => None,
            };
            return Some(Constant::text(text(left)? + &text(right)?));
        }
        _ => return None,
    };
    // A shift counts modulo 32.
    let count = to_uint32(right) & 31;
    Some(Constant::Number(match operator {
        BinaryOperator::Addition => left + right,
        BinaryOperator::Subtraction => left - right,
        BinaryOperator::Multiplication => left * right,
        BinaryOperator::Division => left / right,
        BinaryOperator::Remainder => left % right,
        BinaryOperator::Exponential => left.powf(right),
        BinaryOperator::ShiftLeft => f64::from(to_int32(left).wrapping_shl(count)),
        BinaryOperator::ShiftRight => f64::from(to_int32(left).wrapping_shr(count)),
        BinaryOperator::ShiftRightZeroFill => f64::from(to_uint32(left).wrapping_shr(count)),
        BinaryOperator::BitwiseAnd => f64::from(to_int32(left) & to_int32(right)),
        BinaryOperator::BitwiseOR => f64::from(to_int32(left) | to_int32(right)),
        BinaryOperator::BitwiseXOR => f64::from(to_int32(left) ^ to_int32(right)),
        _ => return None,
    }))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the remainder is below 2**32")]
fn to_uint32(number: f64) -> u32 {
    const RANGE: f64 = 4_294_967_296.0;
    if number.is_finite() { number.trunc().rem_euclid(RANGE) as u32 } else { 0 }
}

fn to_int32(number: f64) -> i32 {
    to_uint32(number).cast_signed()
}

/// A number as program text.
fn number_text(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        number.to_string()
    }
}

/// A number as JavaScript turns it into text, where that has no exponent.
fn plain_number(number: f64) -> Option<String> {
    let magnitude = number.abs();
    let plain = magnitude == 0.0 || (1e-6..1e21).contains(&magnitude);
    plain.then(|| if magnitude == 0.0 { "0".to_owned() } else { number.to_string() })
}

fn quote(text: &str) -> String {
    use std::fmt::Write;
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => {
                quoted.push('\\');
                quoted.push(character);
            }
            '\n' => quoted.push_str("\\n"),
            '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                // Writing to a string cannot fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
