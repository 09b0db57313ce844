//! Type arguments where JavaScript reads comparisons: `f<string>(1)`, `xs.reduce<number>(add, 0)`.
//!
//! A text that is both is JavaScript, unless no comparison can be meant: `<` and `>` stand as tight as for a call, and
//! what is between them are types by their form or by their names. One place that may be a comparison decides for
//! JavaScript.

use std::collections::HashSet;

use oxc_ast::AstKind;
use oxc_ast::ast::{Program, TSLiteral, TSType, TSTypeName, TSTypeParameterInstantiation};
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

use super::edits::part;

/// Whether a text has the signs of such a call, so that the second reading is worth its time.
pub(super) fn are_possible(text: &str) -> bool {
    let opens = |pair: &[u8]| matches!(pair, [name, b'<'] if name.is_ascii_alphanumeric() || b"_$".contains(name));
    (text.contains(">(") || text.contains(">`")) && text.as_bytes().windows(2).any(opens)
}

/// Whether the TypeScript reading of a text that is JavaScript as well is what was meant.
pub(super) fn are_meant<'a>(text: &'a str, program: &Program<'a>) -> bool {
    let mut values = Values::default();
    values.visit_program(program);
    let mut calls = Calls { text, values, found: false, unclear: false };
    calls.visit_program(program);
    calls.found && !calls.unclear
}

/// The names that a program declares, classes and imports apart: nobody compares with a class.
#[derive(Default)]
struct Values<'a> {
    declared: HashSet<&'a str>,
    classes: HashSet<&'a str>,
}

impl Values<'_> {
    fn has(&self, name: &str) -> bool {
        self.declared.contains(name) && !self.classes.contains(name)
    }
}

impl<'a> VisitJs<'a> for Values<'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::Class(class) => self.classes.extend(class.id.as_ref().map(|id| id.name.as_str())),
            AstKind::ImportSpecifier(specifier) => _ = self.classes.insert(specifier.local.name.as_str()),
            AstKind::ImportDefaultSpecifier(specifier) => _ = self.classes.insert(specifier.local.name.as_str()),
            AstKind::BindingIdentifier(identifier) => _ = self.declared.insert(identifier.name.as_str()),
            _ => {}
        }
    }
}

/// What a type would be to JavaScript.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Nothing that is compared.
    Type,
    Either,
    Value,
}

struct Calls<'a> {
    text: &'a str,
    values: Values<'a>,
    found: bool,
    unclear: bool,
}

impl<'a> Calls<'a> {
    fn arguments(&mut self, callee: Span, arguments: &TSTypeParameterInstantiation<'a>, constructs: bool) {
        let Span { start, end, .. } = arguments.span;
        let tight = callee.end == start
            && !part(self.text, start + 1, end).starts_with(char::is_whitespace)
            && part(self.text, end, u32::MAX).starts_with(['(', '`']);
        let mut forms = arguments.params.iter().map(|argument| self.form(argument));
        let types =
            constructs || (forms.clone().any(|form| form == Form::Type) && forms.all(|form| form != Form::Value));
        if tight && types {
            self.found = true;
        } else {
            self.unclear = true;
        }
    }

    /// Its recursion goes as deep as the walk's.
    fn form(&self, argument: &TSType<'a>) -> Form {
        match argument {
            TSType::TSTypeReference(reference) => match &reference.type_name {
                TSTypeName::IdentifierReference(name) => {
                    let capital = name.name.starts_with(char::is_uppercase);
                    if capital && !self.values.has(&name.name) { Form::Type } else { Form::Value }
                }
                _ => Form::Either,
            },
            TSType::TSLiteralType(literal) => match literal.literal {
                TSLiteral::StringLiteral(_) => Form::Type,
                _ => Form::Either,
            },
            TSType::TSUnionType(union) if union.types.iter().all(|part| self.form(part) != Form::Type) => Form::Value,
            TSType::TSParenthesizedType(inner) => self.form(&inner.type_annotation),
            // A keyword such as `number` may be the name of a variable.
            _ if self.values.has(part(self.text, argument.span().start, argument.span().end)) => Form::Value,
            _ => Form::Type,
        }
    }
}

impl<'a> VisitJs<'a> for Calls<'a> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        let (callee, arguments, constructs) = match kind {
            AstKind::CallExpression(call) => (call.callee.span(), &call.type_arguments, false),
            AstKind::NewExpression(new) => (new.callee.span(), &new.type_arguments, true),
            AstKind::TaggedTemplateExpression(tagged) => (tagged.tag.span(), &tagged.type_arguments, false),
            AstKind::TSInstantiationExpression(_) => return self.unclear = true,
            _ => return,
        };
        if let Some(arguments) = arguments {
            self.arguments(callee, arguments, constructs);
        }
    }
}

#[cfg(test)]
mod tests;
