//! Blanking of annotations, type arguments and assertions in the nodes that carry them.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrowFunctionExpression, Expression, FormalParameter, Function, TSNamespaceDeclarationBody, TSTypeAssertion,
    VariableDeclarator,
};
use oxc_span::{GetSpan, Span};

use super::{Rewriter, is_erased};

/// What begins a statement, not an expression, where both can stand.
pub(in super::super) const STATEMENT_HEADS: &[&str] = &["{", "function", "class", "async", "let"];

impl<'a> Rewriter<'a> {
    pub(super) fn blank_types_of(&mut self, kind: AstKind<'a>) {
        match kind {
            AstKind::VariableDeclarator(declarator) => self.variable(declarator),
            AstKind::FormalParameter(parameter) => self.parameter(parameter),
            AstKind::FormalParameterRest(rest) => self.blank_node(rest.type_annotation.as_deref()),
            AstKind::CatchParameter(parameter) => self.blank_node(parameter.type_annotation.as_deref()),
            AstKind::Function(function) => self.function(function),
            AstKind::ArrowFunctionExpression(arrow) => self.arrow(arrow),
            AstKind::Class(class) => self.class(class),
            AstKind::CallExpression(call) => self.blank_node(call.type_arguments.as_deref()),
            AstKind::NewExpression(new) => self.blank_node(new.type_arguments.as_deref()),
            AstKind::TaggedTemplateExpression(tagged) => self.blank_node(tagged.type_arguments.as_deref()),
            AstKind::TSInstantiationExpression(instantiation) => {
                self.blank_node(Some(&*instantiation.type_arguments));
            }
            AstKind::TSAsExpression(cast) => self.behind(&cast.expression, cast.span.end),
            AstKind::TSSatisfiesExpression(cast) => self.behind(&cast.expression, cast.span.end),
            AstKind::TSNonNullExpression(assertion) => {
                self.edits.blank(assertion.expression.span().end, assertion.span.end);
            }
            AstKind::TSTypeAssertion(assertion) => self.assertion(assertion),
            _ => {}
        }
    }

    pub(super) fn blank_node(&mut self, node: Option<&impl GetSpan>) {
        if let Some(node) = node {
            let Span { start, end, .. } = node.span();
            self.edits.blank(start, end);
        }
    }

    fn variable(&mut self, declarator: &VariableDeclarator<'a>) {
        let id_end = declarator.id.span().end;
        if let Some(annotation) = &declarator.type_annotation {
            self.edits.blank(id_end, annotation.span.end);
        }
    }

    fn parameter(&mut self, parameter: &FormalParameter<'a>) {
        let pattern = parameter.pattern.span();
        if parameter.accessibility.is_some() || parameter.readonly || parameter.r#override {
            self.edits.blank(parameter.span.start, pattern.start);
        }
        if let Some(annotation) = &parameter.type_annotation {
            self.edits.blank(pattern.end, annotation.span.end);
        } else if parameter.optional
            && let Some(mark) = self.next_if(pattern.end, '?')
        {
            self.edits.blank(mark, mark + 1);
        }
    }

    fn function(&mut self, function: &Function<'a>) {
        self.blank_node(function.type_parameters.as_deref());
        self.blank_node(function.return_type.as_deref());
        if let Some(this) = &function.this_param {
            let params = &function.params;
            let first = params.items.first().map(|item| item.span.start);
            let next = first.or_else(|| params.rest.as_ref().map(|rest| rest.span.start));
            self.edits.blank(this.span.start, next.unwrap_or(params.span.end.saturating_sub(1)));
        }
    }

    /// An arrow function may not have a line end before its `=>`, nor between `async` and its parameters, and what a
    /// `return` gives must begin on its line. So a bracket moves over the line ends of a blanked type.
    fn arrow(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        let params = arrow.params.span;
        if let Some(type_parameters) = &arrow.type_parameters {
            let start = type_parameters.span.start;
            if self.text(start, params.start).contains('\n') {
                self.edits.blank_from(start, params.start + 1, '(');
            } else {
                self.edits.blank(start, type_parameters.span.end);
            }
        }
        if let Some(return_type) = &arrow.return_type {
            let close = params.end.saturating_sub(1);
            if self.text(close, return_type.span.end).contains('\n') {
                self.edits.blank_to(close, return_type.span.end, ')');
            } else {
                self.blank_node(Some(&**return_type));
            }
        }
    }

    /// Blanks `as T` behind an expression. A line that could not go on behind the type must not go on without it.
    fn behind(&mut self, expression: &Expression<'a>, end: u32) {
        let start = expression.span().end;
        let goes_on = self
            .next_character(end)
            .is_some_and(|(next, at)| "([`".contains(next) && self.text(end, at).contains('\n'));
        if goes_on {
            self.edits.blank_from(start, end, ';');
        } else {
            self.edits.blank(start, end);
        }
    }

    fn assertion(&mut self, assertion: &TSTypeAssertion<'a>) {
        let start = assertion.span.start;
        let value = assertion.expression.span().start;
        let rest = self.text(value, u32::MAX);
        // Without its type a value that begins like this can become a block or a declaration.
        let like_statement = STATEMENT_HEADS.iter().any(|head| rest.starts_with(head));
        if like_statement || self.text(start, value).contains('\n') {
            self.edits.blank_from(start, value, '(');
            self.edits.insert(assertion.expression.span().end, ")");
        } else {
            self.edits.blank(start, value);
        }
    }
}

/// Whether a namespace holds no value. Its nesting is bounded by the stack that the walk has.
pub(super) fn has_types_only(body: &TSNamespaceDeclarationBody) -> bool {
    match body {
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => inner.declare || has_types_only(&inner.body),
        TSNamespaceDeclarationBody::TSModuleBlock(block) => block.body.iter().all(is_erased),
    }
}
