//! Imports and exports of a program, which is a script to the guest.
//!
//! An import becomes a declaration at its place. Imports of a module are hoisted over its other statements; here one
//! may stand behind other statements if none of its names is used before it, and is refused otherwise.

use std::collections::HashSet;

use oxc_ast::ast::{
    Declaration, ExportDefaultDeclaration, ExportDefaultDeclarationKind, Expression, FormalParameters,
    ImportDeclaration, ImportDeclarationSpecifier, ImportOrExportKind, Program, Statement,
};
use oxc_span::{GetSpan, Span};

use super::IMPORT_FUNCTION;
use super::ending;
use super::parse::Reading;
use super::rewrite::{Rewriter, is_erased};

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
            Statement::ExportNamedDeclaration(export) => rewriter.blank_statement(export.span),
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
    for specifier in import.specifiers.iter().flatten() {
        if !kept.iter().any(|kept| kept.span() == specifier.span()) {
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

/// Where the value is kept when statements behind it have values, too. As long as `export default`.
const DEFAULT: &str = "const $value =";

/// Makes the default export the program's value; whether it is a function that is called.
fn default_export<'a>(
    rewriter: &mut Rewriter<'a>,
    program: &Program<'a>,
    export: &ExportDefaultDeclaration<'a>,
) -> bool {
    let end = ending::last_statement(program).map_or(export.span.end, |last| last.span().end);
    let declaration = export.declaration.span();
    let (name, called) = match &export.declaration {
        ExportDefaultDeclarationKind::FunctionDeclaration(function) => {
            (function.id.as_ref(), !function.generator && takes_nothing(&function.params))
        }
        ExportDefaultDeclarationKind::ClassDeclaration(class) => (class.id.as_ref(), false),
        other => (None, other.as_expression().is_some_and(|expression| is_callable(expression, program))),
    };
    if let Some(name) = name {
        rewriter.edits.blank(export.span.start, declaration.start);
        let value = if called { format!(";await {}();", name.name) } else { format!(";{};", name.name) };
        rewriter.edits.insert(end, value);
        return called;
    }
    let first = rewriter.text(declaration.start, declaration.end);
    // Otherwise the text would be read as a block or as a declaration.
    let wrapped = called || ["{", "function", "class", "async", "let"].iter().any(|word| first.starts_with(word));
    let call = match (called, wrapped) {
        (true, _) => "await (",
        (false, true) => "(",
        (false, false) => "",
    };
    let only = ending::only_declarations_follow(program, export.span);
    let head = if only { ";" } else { DEFAULT };
    let width = rewriter.text(export.span.start, declaration.start).chars().count();
    let gap = width.saturating_sub(head.len() + call.len()).max(usize::from(!only));
    rewriter.edits.replace(Span::new(export.span.start, declaration.start), format!("{head}{}{call}", " ".repeat(gap)));
    if wrapped {
        rewriter.edits.insert(declaration.end, if called { ")()" } else { ")" });
    }
    if !only {
        rewriter.edits.insert(end, ";$value;");
    } else if !rewriter.text(declaration.end, export.span.end).ends_with(';') {
        rewriter.edits.insert(export.span.end, ";");
    }
    called
}

/// A function without required parameters, or the name of one that the program declares.
fn is_callable(expression: &Expression, program: &Program) -> bool {
    match expression.get_inner_expression() {
        Expression::ArrowFunctionExpression(arrow) => takes_nothing(&arrow.params),
        Expression::FunctionExpression(function) => !function.generator && takes_nothing(&function.params),
        Expression::Identifier(identifier) => program.body.iter().any(|statement| {
            let declaration = match statement {
                Statement::ExportDeclaration(export) => Some(&export.declaration),
                _ => statement.as_declaration(),
            };
            match declaration {
                Some(Declaration::FunctionDeclaration(function)) => {
                    function.id.as_ref().is_some_and(|id| id.name == identifier.name)
                        && !function.generator
                        && function.body.is_some()
                        && takes_nothing(&function.params)
                }
                Some(Declaration::VariableDeclaration(variables)) => variables.declarations.iter().any(|variable| {
                    variable.id.get_identifier_name().is_some_and(|name| name == identifier.name)
                        && variable.init.as_ref().is_some_and(|init| match init.get_inner_expression() {
                            Expression::ArrowFunctionExpression(arrow) => takes_nothing(&arrow.params),
                            Expression::FunctionExpression(function) => {
                                !function.generator && takes_nothing(&function.params)
                            }
                            _ => false,
                        })
                }),
                _ => false,
            }
        }),
        _ => false,
    }
}

fn takes_nothing(params: &FormalParameters) -> bool {
    params.items.iter().all(|item| item.initializer.is_some() || item.optional)
}

#[cfg(test)]
mod tests;
