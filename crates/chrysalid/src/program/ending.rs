//! The end of a program: what its value is.

use oxc_ast::ast::{BindingPattern, Declaration, Expression, Program, Statement};
use oxc_span::{GetSpan, Span};

use super::edits::{Anchor, Edits};
use super::name::is_name_character;
use super::nesting::{self, Braces};
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
            object_block(rewriter, program, block.span, reading);
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
fn object_block(rewriter: &mut Rewriter, program: &Program, span: Span, reading: Reading) {
    if !parse::is_expression(rewriter.text(span.start, span.end), reading) {
        return;
    }
    let separated = is_separated(rewriter, program, span.start);
    rewriter.edits.insert(span.start, if separated { "(" } else { ";(" });
    rewriter.edits.insert(span.end, ")");
}

/// Whether a bracket at `at` cannot become part of the statement before it.
fn is_separated(rewriter: &Rewriter, program: &Program, at: u32) -> bool {
    match program.body.iter().rev().find(|statement| statement.span().end <= at) {
        Some(Statement::EmptyStatement(_)) => true,
        // What is blanked takes its `;` with it.
        Some(Statement::ImportDeclaration(_)) => false,
        Some(last) => counts(last) && rewriter.text(last.span().start, last.span().end).ends_with(';'),
        None => program.directives.is_empty(),
    }
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
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + word.len()..).unwrap_or_default();
        !before.ends_with(is_name_character) && !after.starts_with(is_name_character)
    })
}

/// A text that does not parse, with its last braces taken as an object literal, and where that moved things.
pub(super) struct ObjectReading {
    pub(super) text: String,
    pub(super) anchors: Vec<Anchor>,
    /// The offset of the bracket that was put in; a `;` is before it if anything is.
    bracket: u32,
}

/// For a text whose first error is at `error_at`: inside of the braces or in a cast behind them, or it would stay.
pub(super) fn object_reading(text: &str, error_at: usize) -> Option<ObjectReading> {
    let Braces { open, close, cast } = nesting::last_braces(text)?;
    if error_at <= open || (error_at > close && !cast) {
        return None;
    }
    let first = text.get(..open)?.trim().is_empty();
    let mut edits = Edits::default();
    let open = u32::try_from(open).ok()?;
    edits.insert(open, if first { "(" } else { ";(" });
    edits.insert(u32::try_from(close).ok()? + 1, ")");
    let (text, anchors) = edits.apply(text);
    Some(ObjectReading { text, anchors, bracket: open + u32::from(!first) })
}

impl ObjectReading {
    /// Whether the brackets are a statement of their own, and the `;` before them took nothing from the statement
    /// before: `if (a) { … }` is not to become `if (a) ;({ … })`.
    pub(super) fn holds(&self, program: &Program) -> bool {
        let Some(last) = last_statement(program) else { return false };
        let is_object = matches!(last, Statement::ExpressionStatement(statement)
            if matches!(statement.expression.get_inner_expression(), Expression::ObjectExpression(_)));
        if !is_object || last.span().start != self.bracket {
            return false;
        }
        let ends_there = |statement: &&Statement| statement.span().end == self.bracket;
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
