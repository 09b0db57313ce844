//! The walk over a program's tree that collects its changes: types blanked, `import(…)` renamed, and what the guest
//! cannot run refused with a reason.

mod class;
mod enumeration;
mod types;

use std::collections::{HashMap, HashSet};

use oxc_allocator::ArenaVec;
use oxc_ast::AstKind;
use oxc_ast::ast::{
    Declaration, ExportDefaultDeclarationKind, ImportExpression, ImportOrExportKind, Program, Statement,
    TSEnumDeclaration,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use super::IMPORT_FUNCTION;
use super::edits::{Edits, part};
use enumeration::Constants;
pub(super) use types::STATEMENT_HEADS;

/// Something that parses but cannot be run.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) message: String,
    pub(super) hint: Option<&'static str>,
    pub(super) at: u32,
}

pub(super) struct Rewriter<'a> {
    pub(super) source: &'a str,
    pub(super) edits: Edits,
    /// The first problem in the order of the walk.
    pub(super) problem: Option<Problem>,
    /// Where each name is first used as a value.
    pub(super) first_use: HashMap<&'a str, u32>,
    enums: HashMap<&'a str, Constants>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { source, edits: Edits::default(), problem: None, first_use: HashMap::new(), enums: HashMap::new() }
    }

    /// Walks the tree. That of the JavaScript reading may hold TypeScript as well: the parser takes modifiers of class
    /// members in both.
    pub(super) fn walk(&mut self, program: &Program<'a>) {
        self.visit_program(program);
    }

    pub(super) fn refuse(&mut self, at: u32, message: impl Into<String>, hint: &'static str) {
        if self.problem.is_none() {
            self.problem = Some(Problem { message: message.into(), hint: Some(hint), at });
        }
    }

    pub(super) fn text(&self, start: u32, end: u32) -> &'a str {
        part(self.source, start, end)
    }

    /// Blanks a whole statement. What stands before and behind it must not become one statement.
    pub(super) fn blank_statement(&mut self, span: Span) {
        if self.next_character(span.end).is_some_and(|(next, _)| "([`+-/<".contains(next)) {
            self.edits.blank_from(span.start, span.end, ';');
        } else {
            self.edits.blank(span.start, span.end);
        }
    }

    /// The first character from an offset on that is neither white space nor in a comment, and its offset.
    fn next_character(&self, from: u32) -> Option<(char, u32)> {
        let mut rest = self.text(from, u32::MAX);
        loop {
            rest = rest.trim_start();
            rest = if let Some(comment) = rest.strip_prefix("//") {
                comment.split_once(['\n', '\r', '\u{2028}', '\u{2029}'])?.1
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment.split_once("*/")?.1
            } else {
                let at = u32::try_from(self.source.len() - rest.len()).ok()?;
                return Some((rest.chars().next()?, at));
            };
        }
    }

    /// The offset of `wanted` if it is the next character from an offset on.
    pub(super) fn next_if(&self, from: u32, wanted: char) -> Option<u32> {
        self.next_character(from).filter(|(found, _)| *found == wanted).map(|(_, at)| at)
    }

    /// Erases what exists for types only; whether it was that.
    fn erase(&mut self, statement: &Statement<'a>) -> bool {
        let erased = is_erased(statement);
        if erased {
            self.blank_statement(statement.span());
        }
        erased
    }

    fn refuse_unsupported(&mut self, statement: &Statement<'a>) -> bool {
        let at = statement.span().start;
        match statement {
            Statement::TSNamespaceDeclaration(_) => {
                self.refuse(at, "a `namespace` with values is not supported", "use an object: `const Name = { … }`");
            }
            Statement::ExportDeclaration(export)
                if matches!(export.declaration, Declaration::TSNamespaceDeclaration(_)) =>
            {
                self.refuse(at, "a `namespace` with values is not supported", "use an object: `const Name = { … }`");
            }
            Statement::ExportDeclaration(export)
                if matches!(export.declaration, Declaration::TSImportEqualsDeclaration(_)) =>
            {
                self.refuse(at, "`import x = …` is not supported", "write `import x from \"…\"` or `const x = …`");
            }
            Statement::TSImportEqualsDeclaration(_) => {
                self.refuse(at, "`import x = …` is not supported", "write `import x from \"…\"` or `const x = …`");
            }
            Statement::TSExportAssignment(_) => {
                self.refuse(at, "`export =` is not supported", "write `export default …`");
            }
            _ => return false,
        }
        true
    }

    fn dynamic_import(&mut self, import: &ImportExpression<'a>) {
        if import.phase.is_some() {
            self.refuse(import.span.start, "import phases are not supported", "write `import(…)`");
            return;
        }
        let start = import.span.start;
        let keyword = u32::try_from("import".len()).unwrap_or_default();
        self.edits.replace(Span::new(start, start + keyword), IMPORT_FUNCTION);
        if import.options.is_some() {
            let end = import.span.end.saturating_sub(1);
            self.edits.blank(import.source.span().end, end);
        }
    }

    fn check_name(&mut self, name: &str, at: u32) {
        if name == IMPORT_FUNCTION {
            let message = format!("the name `{IMPORT_FUNCTION}` is taken");
            self.refuse(at, message, "use another name, or `import(…)` to load a module");
        }
    }
}

/// The enum that a statement declares.
fn enumeration<'s, 'a>(statement: &'s Statement<'a>) -> Option<&'s TSEnumDeclaration<'a>> {
    let declaration = match statement {
        Statement::TSEnumDeclaration(declaration) => declaration,
        Statement::ExportDeclaration(export) => match &export.declaration {
            Declaration::TSEnumDeclaration(declaration) => declaration,
            _ => return None,
        },
        _ => return None,
    };
    (!declaration.declare).then_some(declaration)
}

impl<'a> VisitJs<'a> for Rewriter<'a> {
    /// The enums of a list are known in it only.
    fn visit_statements(&mut self, statements: &ArenaVec<'a, Statement<'a>>) {
        let mut outer: Vec<(&'a str, Option<Constants>)> = Vec::new();
        let mut names = HashSet::new();
        for declaration in statements.iter().filter_map(enumeration) {
            let name = declaration.id.name.as_str();
            if !names.insert(name) {
                let message = format!("the enum `{name}` is declared twice");
                self.refuse(declaration.span.start, message, "put all members into one enum");
                return;
            }
            outer.push((name, self.enums.remove(name)));
        }
        walk_js::walk_statements(self, statements);
        for (name, constants) in outer {
            self.enums.remove(name);
            self.enums.extend(constants.map(|constants| (name, constants)));
        }
    }

    fn visit_statement(&mut self, statement: &Statement<'a>) {
        if self.erase(statement) || self.refuse_unsupported(statement) {
            return;
        }
        if let Some(declaration) = enumeration(statement) {
            return self.enumeration(declaration);
        }
        match statement {
            Statement::ImportDeclaration(import) => {
                for specifier in import.specifiers.iter().flatten() {
                    self.check_name(&specifier.local().name, specifier.span().start);
                }
            }
            _ => walk_js::walk_statement(self, statement),
        }
    }

    fn enter_node(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::ImportExpression(import) => self.dynamic_import(import),
            AstKind::ImportMeta(meta) => {
                let hint = "a program has no address and no file";
                self.refuse(meta.span.start, "`import.meta` is not available", hint);
            }
            AstKind::Decorator(decorator) => {
                let hint = "call the function on the class or method instead";
                self.refuse(decorator.span.start, "decorators are not supported", hint);
            }
            AstKind::IdentifierReference(identifier) => {
                let name = identifier.name.as_str();
                self.check_name(name, identifier.span.start);
                self.first_use.entry(name).or_insert(identifier.span.start);
            }
            AstKind::BindingIdentifier(identifier) => self.check_name(&identifier.name, identifier.span.start),
            _ => self.blank_types_of(kind),
        }
    }
}

/// Whether a statement exists for types only.
pub(super) fn is_erased(statement: &Statement) -> bool {
    match statement {
        Statement::ExportDeclaration(export) => is_erased_declaration(&export.declaration),
        Statement::ExportNamedDeclaration(export) => export.export_kind == ImportOrExportKind::Type,
        Statement::ExportFromDeclaration(export) => export.export_kind == ImportOrExportKind::Type,
        Statement::ExportAllDeclaration(export) => export.export_kind == ImportOrExportKind::Type,
        Statement::ExportDefaultDeclaration(export) => match &export.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
            ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.body.is_none(),
            _ => false,
        },
        Statement::ImportDeclaration(import) => import.import_kind == ImportOrExportKind::Type,
        Statement::TSNamespaceExportDeclaration(_) => true,
        _ => statement.as_declaration().is_some_and(is_erased_declaration),
    }
}

fn is_erased_declaration(declaration: &Declaration) -> bool {
    match declaration {
        Declaration::VariableDeclaration(variables) => variables.declare,
        Declaration::FunctionDeclaration(function) => function.declare || function.body.is_none(),
        Declaration::ClassDeclaration(class) => class.declare,
        Declaration::TSTypeAliasDeclaration(_)
        | Declaration::TSInterfaceDeclaration(_)
        | Declaration::TSExternalModuleDeclaration(_)
        | Declaration::TSGlobalDeclaration(_) => true,
        Declaration::TSEnumDeclaration(declaration) => declaration.declare,
        Declaration::TSNamespaceDeclaration(namespace) => namespace.declare || types::has_types_only(&namespace.body),
        Declaration::TSImportEqualsDeclaration(import) => import.import_kind == ImportOrExportKind::Type,
    }
}

#[cfg(test)]
mod tests;
