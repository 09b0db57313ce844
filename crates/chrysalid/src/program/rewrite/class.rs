//! Blanking of what TypeScript adds to classes, and parameter properties, which become assignments.

use oxc_ast::ast::BindingPattern;
use oxc_ast::ast::{
    Class, ClassElement, Expression, MethodDefinition, MethodDefinitionKind, MethodDefinitionType, PropertyKey,
    Statement, TSTypeAnnotation,
};
use oxc_span::{GetSpan, Span};

use super::Rewriter;

const MODIFIERS: &[&str] = &["public", "private", "protected", "readonly", "override", "abstract", "declare"];

/// Names that begin something else when no `;` follows them.
const SPECIAL_NAMES: &[&str] = &["get", "set", "static", "async", "accessor"];

impl<'a> Rewriter<'a> {
    pub(super) fn class(&mut self, class: &Class<'a>) {
        if class.r#abstract {
            let end = class.id.as_ref().map_or(class.body.span.start, |id| id.span.start);
            for (start, end) in self.modifiers(class.span.start, end) {
                self.edits.blank(start, end);
            }
        }
        self.blank_node(class.type_parameters.as_deref());
        let mut head_end = class.type_parameters.as_ref().map(|parameters| parameters.span.end);
        if let Some(heritage) = &class.heritage {
            self.blank_node(heritage.type_arguments.as_deref());
            let arguments = heritage.type_arguments.as_ref().map(|arguments| arguments.span.end);
            head_end = arguments.or(Some(heritage.expression.span().end));
        }
        if let Some(first) = class.implements.first() {
            let id_end = class.id.as_ref().map(|id| id.span.end);
            let keyword_end = class.span.start + u32::try_from("class".len()).unwrap_or_default();
            let from = head_end.or(id_end).unwrap_or(keyword_end.min(first.span.start));
            self.edits.blank(from, class.body.span.start);
        }
        for element in &class.body.body {
            self.element(element, class.heritage.is_some());
        }
    }

    fn element(&mut self, element: &ClassElement<'a>, derived: bool) {
        match element {
            ClassElement::StaticBlock(_) => {}
            ClassElement::TSIndexSignature(signature) => self.blank_member(signature.span),
            ClassElement::MethodDefinition(method) => self.method(method, derived),
            ClassElement::PropertyDefinition(property) => {
                if property.declare || property.r#type.is_abstract() {
                    return self.blank_member(property.span);
                }
                self.member_modifiers(property.span.start, property.key.span().start);
                let key_end = self.key_end(&property.key, property.computed);
                self.field(key_end, property.type_annotation.as_deref(), property.optional || property.definite);
                if property.value.is_none() {
                    self.end_special_field(property.span, &property.key, key_end);
                }
            }
            ClassElement::AccessorProperty(property) => {
                if property.r#type.is_abstract() {
                    return self.blank_member(property.span);
                }
                self.member_modifiers(property.span.start, property.key.span().start);
                let key_end = self.key_end(&property.key, property.computed);
                self.field(key_end, property.type_annotation.as_deref(), property.definite);
            }
        }
    }

    fn method(&mut self, method: &MethodDefinition<'a>, derived: bool) {
        if method.value.body.is_none() || method.r#type == MethodDefinitionType::TSAbstractMethodDefinition {
            return self.blank_member(method.span);
        }
        self.member_modifiers(method.span.start, method.key.span().start);
        if method.optional {
            let key_end = self.key_end(&method.key, method.computed);
            self.field(key_end, None, true);
        }
        if method.kind == MethodDefinitionKind::Constructor {
            self.parameter_properties(method, derived);
        }
    }

    /// Blanks a member, without making one of its neighbours.
    fn blank_member(&mut self, span: Span) {
        if self.next_character(span.end).is_some_and(|(next, _)| "([*".contains(next)) {
            self.edits.blank_from(span.start, span.end, ';');
        } else {
            self.edits.blank(span.start, span.end);
        }
    }

    /// Blanks modifiers before a member's name. When they were all that kept its `[` or `*` from the member before, a
    /// `;` takes the place of the first.
    fn member_modifiers(&mut self, start: u32, key: u32) {
        let words = self.modifiers(start, key);
        let next = words.last().and_then(|&(_, end)| self.next_character(end));
        let first = words.first().is_some_and(|&(first, _)| first == start);
        let guarded = first && next.is_some_and(|(next, _)| "[*".contains(next));
        for (index, (start, end)) in words.into_iter().enumerate() {
            if guarded && index == 0 {
                self.edits.blank_from(start, end, ';');
            } else {
                self.edits.blank(start, end);
            }
        }
    }

    /// Where the modifiers between two offsets stand.
    fn modifiers(&self, start: u32, end: u32) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let mut at = start;
        while let Some((_, word)) = self.next_character(at).filter(|(_, word)| *word < end) {
            let rest = self.text(word, end);
            let length = rest.find(|character: char| !character.is_alphanumeric()).unwrap_or(rest.len());
            at = word + u32::try_from(length).unwrap_or(u32::MAX).max(1);
            if MODIFIERS.contains(&self.text(word, at)) {
                found.push((word, at));
            }
        }
        found
    }

    fn key_end(&self, key: &PropertyKey<'a>, computed: bool) -> u32 {
        let end = key.span().end;
        let bracket = if computed { self.next_if(end, ']') } else { None };
        bracket.map_or(end, |bracket| bracket + 1)
    }

    /// Blanks `?` or `!` and the annotation behind a name.
    fn field(&mut self, key_end: u32, annotation: Option<&TSTypeAnnotation<'a>>, marked: bool) {
        if let Some(annotation) = annotation {
            self.edits.blank(key_end, annotation.span.end);
        } else if marked && let Some(mark) = self.next_if(key_end, '?').or_else(|| self.next_if(key_end, '!')) {
            self.edits.blank(mark, mark + 1);
        }
    }

    /// `get: T` without a `;` would be the beginning of a getter.
    fn end_special_field(&mut self, span: Span, key: &PropertyKey<'a>, key_end: u32) {
        let special = key.static_name().is_some_and(|name| SPECIAL_NAMES.contains(&&*name));
        if special && key_end < span.end && !self.text(span.start, span.end).ends_with(';') {
            self.edits.insert(key_end, ";");
        }
    }

    fn parameter_properties(&mut self, method: &MethodDefinition<'a>, derived: bool) {
        let Some(body) = &method.value.body else { return };
        let mut assignments = String::new();
        for parameter in &method.value.params.items {
            if parameter.accessibility.is_none() && !parameter.readonly && !parameter.r#override {
                continue;
            }
            let BindingPattern::BindingIdentifier(name) = &parameter.pattern else { continue };
            let name = &name.name;
            assignments.push_str(" this.");
            assignments.push_str(name);
            assignments.push_str(" = ");
            assignments.push_str(name);
            assignments.push(';');
        }
        if assignments.is_empty() {
            return;
        }
        if !derived {
            return self.edits.insert(body.span.start + 1, assignments);
        }
        let Some(call) = body.statements.iter().find(|statement| is_super_call(statement)) else {
            let message = "parameter properties need `super(…)` as a statement of the constructor";
            return self.refuse(method.span.start, message, "assign to `this` in the constructor's body instead");
        };
        let Span { start, end, .. } = call.span();
        if !self.text(start, end).ends_with(';') {
            assignments.insert(0, ';');
        }
        self.edits.insert(end, assignments);
    }
}

fn is_super_call(statement: &Statement) -> bool {
    let Statement::ExpressionStatement(statement) = statement else { return false };
    let Expression::CallExpression(call) = &statement.expression else { return false };
    matches!(call.callee, Expression::Super(_))
}
