//! Imports and exports of a program, which is a script to the guest.
//!
//! An import becomes a declaration at its place. Imports of a module are hoisted over its other statements; here one
//! may stand behind other statements if none of its names is used before it, and is refused otherwise.

use std::collections::HashSet;

use oxc_ast::ast::{
    Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, ExportNamedDeclaration, Expression,
    FormalParameters, IdentifierReference, ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind,
    ModuleExportName, Program, Statement,
};
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

use super::IMPORT_FUNCTION;
use super::ending;
use super::parse::Reading;
use super::rewrite::{Rewriter, STATEMENT_HEADS, is_erased};

/// What the imports and exports of a text come to.
#[derive(Default)]
pub(super) struct Links {
    pub(super) imports: Vec<String>,
    seen: HashSet<String>,
    pub(super) default_called: bool,
    pub(super) has_default: bool,
}

impl Links {
    fn add(&mut self, specifier: &str) {
        if self.seen.insert(specifier.to_owned()) {
            self.imports.push(specifier.to_owned());
        }
    }
}

/// Rewrites the imports and exports of a program. The walk has been made.
pub(super) fn program<'a>(rewriter: &mut Rewriter<'a>, program: &Program<'a>, reading: Reading) -> Links {
    let mut links = Links::default();
    for statement in &program.body {
        if is_erased(statement) {
            continue;
        }
        match statement {
            Statement::ImportDeclaration(import) => import_statement(rewriter, &mut links, import, reading),
            Statement::ExportDeclaration(export) => {
                rewriter.edits.blank(export.span.start, export.declaration.span().start);
            }
            Statement::ExportNamedDeclaration(export) => {
                rewriter.blank_statement(export.span);
                if let Some(name) = named_default(export) {
                    links.has_default = true;
                    links.default_called = is_called(name, program);
                    give_name(rewriter, program, name, links.default_called, export.span);
                }
            }
            Statement::ExportFromDeclaration(export) => {
                links.add(&export.source.value);
                rewriter.blank_statement(export.span);
            }
            Statement::ExportAllDeclaration(export) => {
                links.add(&export.source.value);
                rewriter.blank_statement(export.span);
            }
            Statement::ExportDefaultDeclaration(export) => {
                links.has_default = true;
                links.default_called = default_export(rewriter, program, export);
            }
            _ => {}
        }
    }
    links
}

/// Lists the specifiers of a module and blanks what it imports for types only.
pub(super) fn module<'a>(rewriter: &mut Rewriter<'a>, program: &Program<'a>, reading: Reading) -> Links {
    let mut links = Links::default();
    for statement in &program.body {
        if is_erased(statement) {
            continue;
        }
        match statement {
            Statement::ImportDeclaration(import) => {
                let kept = kept(rewriter, import, reading);
                if all_dropped(import, &kept) {
                    rewriter.blank_statement(import.span);
                    continue;
                }
                links.add(&import.source.value);
                drop_specifiers(rewriter, import, &kept);
            }
            Statement::ExportNamedDeclaration(export) => {
                for specifier in &export.specifiers {
                    if specifier.export_kind == ImportOrExportKind::Type {
                        drop_item(rewriter, specifier.span);
                    }
                }
            }
            Statement::ExportFromDeclaration(export) => {
                links.add(&export.source.value);
                for specifier in &export.specifiers {
                    if specifier.export_kind == ImportOrExportKind::Type {
                        drop_item(rewriter, specifier.span);
                    }
                }
            }
            Statement::ExportAllDeclaration(export) => links.add(&export.source.value),
            _ => {}
        }
    }
    links
}

fn drop_item(rewriter: &mut Rewriter, span: Span) {
    let end = rewriter.next_if(span.end, ',').map_or(span.end, |comma| comma + 1);
    rewriter.edits.blank(span.start, end);
}

/// The specifiers that stand for values. As in TypeScript, a name that is used as a type only is none.
fn kept<'i, 'a>(
    rewriter: &Rewriter<'a>,
    import: &'i ImportDeclaration<'a>,
    reading: Reading,
) -> Vec<&'i ImportDeclarationSpecifier<'a>> {
    let is_value = |specifier: &&ImportDeclarationSpecifier<'a>| {
        let typed = matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(specifier)
            if specifier.import_kind == ImportOrExportKind::Type);
        let used = reading != Reading::TypeScript || rewriter.first_use.contains_key(specifier.local().name.as_str());
        !typed && used
    };
    import.specifiers.iter().flatten().filter(is_value).collect()
}

/// Whether an import had names and has none left. One without names is for its effects.
fn all_dropped(import: &ImportDeclaration, kept: &[&ImportDeclarationSpecifier]) -> bool {
    kept.is_empty() && import.specifiers.as_ref().is_some_and(|specifiers| !specifiers.is_empty())
}

fn drop_specifiers<'a>(
    rewriter: &mut Rewriter<'a>,
    import: &ImportDeclaration<'a>,
    kept: &[&ImportDeclarationSpecifier<'a>],
) {
    let mut kept = kept.iter().map(|specifier| specifier.span()).peekable();
    for specifier in import.specifiers.iter().flatten() {
        // Both lists are in the order of the text.
        if kept.next_if_eq(&specifier.span()).is_none() {
            drop_item(rewriter, specifier.span());
        }
    }
}

fn import_statement<'a>(
    rewriter: &mut Rewriter<'a>,
    links: &mut Links,
    import: &ImportDeclaration<'a>,
    reading: Reading,
) {
    if import.phase.is_some() {
        return rewriter.refuse(import.span.start, "import phases are not supported", "write `import … from \"…\"`");
    }
    let kept = kept(rewriter, import, reading);
    if all_dropped(import, &kept) {
        return rewriter.blank_statement(import.span);
    }
    links.add(&import.source.value);
    for specifier in &kept {
        let name = specifier.local().name.as_str();
        if rewriter.first_use.get(name).is_some_and(|&first| first < import.span.start) {
            let message = format!("`{name}` is used before its import");
            return rewriter.refuse(import.span.start, message, "put the imports first");
        }
    }
    let text = import_text(rewriter, import, &kept);
    rewriter.edits.replace(import.span, text);
}

fn import_text<'a>(
    rewriter: &Rewriter<'a>,
    import: &ImportDeclaration<'a>,
    kept: &[&ImportDeclarationSpecifier<'a>],
) -> String {
    let source = rewriter.text(import.source.span.start, import.source.span.end);
    let mut namespace = None;
    let mut names = Vec::new();
    for specifier in kept {
        let local = specifier.local().name.as_str();
        match specifier {
            ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) => namespace = Some(local),
            ImportDeclarationSpecifier::ImportDefaultSpecifier(_) => names.push(format!("default: {local}")),
            ImportDeclarationSpecifier::ImportSpecifier(specifier) => {
                let imported = specifier.imported.span();
                let text = rewriter.text(imported.start, imported.end);
                names.push(if text == local { local.to_owned() } else { format!("{text}: {local}") });
            }
        }
    }
    let names = names.join(", ");
    match namespace {
        Some(namespace) if names.is_empty() => format!("const {namespace} = await {IMPORT_FUNCTION}({source});"),
        Some(namespace) => format!("const {namespace} = await {IMPORT_FUNCTION}({source}), {{{names}}} = {namespace};"),
        None if names.is_empty() => format!("await {IMPORT_FUNCTION}({source});"),
        None => format!("const {{{names}}} = await {IMPORT_FUNCTION}({source});"),
    }
}

/// The name that `export { name as default }` makes the default export.
fn named_default<'a>(export: &ExportNamedDeclaration<'a>) -> Option<&'a str> {
    let default = export.specifiers.iter().find(|specifier| {
        specifier.export_kind == ImportOrExportKind::Value && specifier.exported.name() == "default"
    })?;
    match &default.local {
        ModuleExportName::IdentifierReference(name) => Some(name.name.as_str()),
        ModuleExportName::IdentifierName(name) => Some(name.name.as_str()),
        ModuleExportName::StringLiteral(_) => None,
    }
}

/// Makes what has this name, or what its call gives, the value of the program. `fallback` is for one without other
/// statements.
fn give_name(rewriter: &mut Rewriter, program: &Program, name: &str, called: bool, fallback: Span) {
    let end = ending::last_statement(program).map_or(fallback.end, |last| last.span().end);
    rewriter.edits.insert(end, if called { format!(";await {name}();") } else { format!(";{name};") });
}

/// Where the value is kept when statements behind it have values, too. With `const` and `=` as long as
/// `export default`.
const DEFAULT: &str = "$value";

/// A name of this form that the text does not hold.
fn unused_name(source: &str) -> String {
    let marks = |rest: &str| rest.len() - rest.trim_start_matches('_').len();
    let longest = source.match_indices(DEFAULT).filter_map(|(at, _)| source.get(at + DEFAULT.len()..)).map(marks).max();
    format!("{DEFAULT}{}", "_".repeat(longest.map_or(0, |marks| marks + 1)))
}

/// Makes the default export the program's value; whether it is a function that is called.
fn default_export<'a>(
    rewriter: &mut Rewriter<'a>,
    program: &Program<'a>,
    export: &ExportDefaultDeclaration<'a>,
) -> bool {
    let declaration = export.declaration.span();
    let (name, called) = match &export.declaration {
        ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
            let used = function.id.as_ref().is_some_and(|id| is_used(&id.name, program, None));
            (function.id.as_ref(), !used && !function.generator && takes_nothing(&function.params))
        }
        ExportDefaultDeclarationKind::ClassDeclaration(class) => (class.id.as_ref(), false),
        other => (None, other.as_expression().is_some_and(|expression| is_callable(expression, program))),
    };
    if let Some(name) = name {
        rewriter.edits.blank(export.span.start, declaration.start);
        give_name(rewriter, program, &name.name, called, export.span);
        return called;
    }
    let first = rewriter.text(declaration.start, declaration.end);
    // Otherwise the text would be read as a block or as a declaration.
    let wrapped = called || STATEMENT_HEADS.iter().any(|word| first.starts_with(word));
    let call = match (called, wrapped) {
        (true, _) => "await (",
        (false, true) => "(",
        (false, false) => "",
    };
    let only = ending::only_declarations_follow(program, export.span);
    let name = unused_name(rewriter.source);
    let head = if only { ";".to_owned() } else { format!("const {name} =") };
    let width = rewriter.text(export.span.start, declaration.start).chars().count();
    let gap = width.saturating_sub(head.len() + call.len()).max(usize::from(!only));
    rewriter.edits.replace(Span::new(export.span.start, declaration.start), format!("{head}{}{call}", " ".repeat(gap)));
    if wrapped {
        rewriter.edits.insert(declaration.end, if called { ")()" } else { ")" });
    }
    if !only {
        give_name(rewriter, program, &name, false, export.span);
    } else if !rewriter.text(declaration.end, export.span.end).ends_with(';') {
        rewriter.edits.insert(export.span.end, ";");
    }
    called
}

/// A function without required parameters, or the name of one that the program declares and does not use itself.
fn is_callable(expression: &Expression, program: &Program) -> bool {
    match expression.get_inner_expression() {
        Expression::ArrowFunctionExpression(arrow) => takes_nothing(&arrow.params),
        Expression::FunctionExpression(function) => !function.generator && takes_nothing(&function.params),
        Expression::Identifier(identifier) => is_called(identifier.name.as_str(), program),
        _ => false,
    }
}

/// Whether the program declares a function of this name that needs no argument, and uses it nowhere outside of itself.
/// One that is used would have its effects twice.
fn is_called(name: &str, program: &Program) -> bool {
    let declared = program.body.iter().find_map(|statement| {
        let declaration = match statement {
            Statement::ExportDeclaration(export) => Some(&export.declaration),
            _ => statement.as_declaration(),
        };
        match declaration {
            Some(Declaration::FunctionDeclaration(function)) => {
                let callable = function.id.as_ref().is_some_and(|id| id.name == name)
                    && !function.generator
                    && function.body.is_some()
                    && takes_nothing(&function.params);
                callable.then_some(function.span)
            }
            Some(Declaration::VariableDeclaration(variables)) => variables.declarations.iter().find_map(|variable| {
                let init = variable.init.as_ref()?;
                let callable = variable.id.get_identifier_name().is_some_and(|id| id == name)
                    && match init.get_inner_expression() {
                        Expression::ArrowFunctionExpression(arrow) => takes_nothing(&arrow.params),
                        Expression::FunctionExpression(function) => {
                            !function.generator && takes_nothing(&function.params)
                        }
                        _ => false,
                    };
                callable.then(|| init.span())
            }),
            _ => None,
        }
    });
    declared.is_some_and(|declared| !is_used(name, program, Some(declared)))
}

/// Whether a name is used outside of its declaration and of exports.
fn is_used(name: &str, program: &Program, declared: Option<Span>) -> bool {
    let mut uses = Uses { name, declared, found: false };
    for statement in &program.body {
        match statement {
            Statement::ExportNamedDeclaration(_) | Statement::ExportDefaultDeclaration(_) => {}
            _ => uses.visit_statement(statement),
        }
    }
    uses.found
}

struct Uses<'n> {
    name: &'n str,
    declared: Option<Span>,
    found: bool,
}

impl<'a> VisitJs<'a> for Uses<'_> {
    fn visit_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) {
        let inside = self.declared.is_some_and(|declared| declared.contains_inclusive(identifier.span));
        self.found |= identifier.name == self.name && !inside;
    }
}

fn takes_nothing(params: &FormalParameters) -> bool {
    params.items.iter().all(|item| item.initializer.is_some() || item.optional)
}

#[cfg(test)]
mod tests;
