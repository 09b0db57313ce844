//! The end of a program: what its value is.

use oxc_ast::ast::{BindingPattern, Declaration, Expression, Program, Statement};
use oxc_span::{GetSpan, Span};

use super::edits::{Anchor, Edits};
use super::nesting;
use super::parse::{self, Reading};
use super::rewrite::{Rewriter, is_erased};

/// The last statement that is neither empty nor there for types or exports only.
pub(super) fn last_statement<'p, 'a>(program: &'p Program<'a>) -> Option<&'p Statement<'a>> {
    program.body.iter().rev().find(|statement| counts(statement))
}

fn counts(statement: &Statement) -> bool {
    let listed = matches!(
        statement,
        Statement::EmptyStatement(_)
            | Statement::ExportNamedDeclaration(_)
            | Statement::ExportFromDeclaration(_)
            | Statement::ExportAllDeclaration(_)
    );
    !listed && !is_erased(statement)
}

/// Whether no statement behind `span` has a value of its own.
pub(super) fn only_declarations_follow(program: &Program, span: Span) -> bool {
    let mut behind = program.body.iter().filter(|statement| statement.span().start >= span.end && counts(statement));
    behind.all(is_declaration)
}

fn is_declaration(statement: &Statement) -> bool {
    matches!(statement, Statement::ImportDeclaration(_) | Statement::ExportDeclaration(_))
        || statement.as_declaration().is_some()
}

/// What was found at the end of a program.
#[derive(Default)]
pub(super) struct Ending {
    pub(super) note: Option<String>,
    pub(super) value_name: Option<String>,
}

/// Looks at the last statement and changes it where its value is not what was meant.
pub(super) fn end<'a>(rewriter: &mut Rewriter<'a>, program: &Program<'a>, reading: Reading) -> Ending {
    match last_statement(program) {
        Some(Statement::ExpressionStatement(statement)) => match statement.expression.get_inner_expression() {
            Expression::Identifier(identifier) => {
                Ending { value_name: Some(identifier.name.to_string()), ..Ending::default() }
            }
            Expression::ArrowFunctionExpression(_) => Ending { note: Some(uncalled(None)), ..Ending::default() },
            Expression::FunctionExpression(function) => {
                let name = function.id.as_ref().map(|id| id.name.as_str());
                Ending { note: Some(uncalled(name)), ..Ending::default() }
            }
            _ => Ending::default(),
        },
        Some(Statement::BlockStatement(block)) => {
            object_block(rewriter, block.span, reading);
            Ending::default()
        }
        Some(last) if program.body.iter().filter(|statement| counts(statement)).all(is_declaration) => {
            Ending { note: lone_function(rewriter, last), ..Ending::default() }
        }
        _ => Ending::default(),
    }
}

fn uncalled(name: Option<&str>) -> String {
    name.map_or_else(
        || "the function is defined but not called".to_owned(),
        |name| format!("`{name}` is defined but not called"),
    )
}

/// A block that is an object literal as well is meant as one.
fn object_block(rewriter: &mut Rewriter, span: Span, reading: Reading) {
    if !parse::is_expression(rewriter.text(span.start, span.end), reading) {
        return;
    }
    let before = rewriter.text(0, span.start).trim_end();
    rewriter.edits.insert(span.start, if before.is_empty() || before.ends_with(';') { "(" } else { ";(" });
    rewriter.edits.insert(span.end, ")");
}

/// Makes a function that is declared last, and used nowhere, the value of the program.
fn lone_function(rewriter: &mut Rewriter, last: &Statement) -> Option<String> {
    let declaration = match last {
        Statement::ExportDeclaration(export) => &export.declaration,
        _ => last.as_declaration()?,
    };
    let name = match declaration {
        Declaration::FunctionDeclaration(function) => function.id.as_ref()?.name.as_str(),
        Declaration::VariableDeclaration(variables) => match variables.declarations.as_slice() {
            [variable] => match (&variable.id, variable.init.as_ref()?.get_inner_expression()) {
                (
                    BindingPattern::BindingIdentifier(id),
                    Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_),
                ) => id.name.as_str(),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    let span = last.span();
    if has_word(rewriter.text(0, span.start), name) || has_word(rewriter.text(span.end, u32::MAX), name) {
        return None;
    }
    rewriter.edits.insert(span.end, format!(";{name}"));
    Some(uncalled(Some(name)))
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + word.len()..).unwrap_or_default();
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// A text that does not parse, with its last braces taken as an object literal, and where that moved things.
pub(super) struct ObjectReading {
    pub(super) text: String,
    pub(super) anchors: Vec<Anchor>,
    /// The offset of the bracket that was put in.
    bracket: u32,
    /// Whether a `;` was put before it.
    separated: bool,
}

/// For a text whose first error is at `error_at`: inside of the braces, or it would stay.
pub(super) fn object_reading(text: &str, error_at: usize) -> Option<ObjectReading> {
    let (open, close) = nesting::last_braces(text)?;
    if error_at <= open || error_at > close {
        return None;
    }
    let before = text.get(..open)?.trim_end();
    let separated = !before.is_empty() && !before.ends_with(';');
    let mut edits = Edits::default();
    let open = u32::try_from(open).ok()?;
    edits.insert(open, if separated { ";(" } else { "(" });
    edits.insert(u32::try_from(close).ok()? + 1, ")");
    let (text, anchors) = edits.apply(text);
    Some(ObjectReading { text, anchors, bracket: open + u32::from(separated), separated })
}

impl ObjectReading {
    /// Whether the brackets are a statement of their own, and the `;` before them took nothing from the statement
    /// before: `if (a) { … }` is not to become `if (a) ;({ … })`.
    pub(super) fn holds(&self, program: &Program) -> bool {
        let Some(last) = last_statement(program) else { return false };
        let is_bracket = matches!(last, Statement::ExpressionStatement(statement)
            if matches!(statement.expression, Expression::ParenthesizedExpression(_)));
        if !is_bracket || last.span().start != self.bracket {
            return false;
        }
        let ends_there = |statement: &&Statement| self.separated && statement.span().end == self.bracket;
        program.body.iter().filter(ends_there).all(|statement| {
            matches!(
                statement,
                Statement::ExpressionStatement(_)
                    | Statement::EmptyStatement(_)
                    | Statement::VariableDeclaration(_)
                    | Statement::ImportDeclaration(_)
                    | Statement::TSTypeAliasDeclaration(_)
                    | Statement::DoWhileStatement(_)
            )
        })
    }
}

#[cfg(test)]
mod tests;
