//! Patterns: what the names and targets of a destructuring take from a value.

use oxc_ast::ast::{
    ArrayAssignmentTarget, AssignmentTarget, AssignmentTargetMaybeDefault, AssignmentTargetProperty, BindingIdentifier,
    BindingPattern, Expression, ObjectAssignmentTarget, ObjectPattern, PropertyKey,
};
use oxc_ast_visit::VisitJs;
use oxc_span::GetSpan;

use super::key;
use super::value::Value;
use super::walk::Walk;

/// Whether a declared name keeps its value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeps {
    /// It is a `const`, which is followed.
    Always,
    Unclear,
}

impl<'a> Walk<'a, '_> {
    /// Gives `value` to what a pattern declares. Its recursion goes as deep as the parser's.
    pub(super) fn bind(&mut self, pattern: &BindingPattern<'a>, value: Value, keeps: Keeps) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => self.bind_name(id, value, keeps),
            BindingPattern::ObjectPattern(object) => self.bind_object(object, &value, keeps),
            BindingPattern::ArrayPattern(array) => {
                self.used(&value);
                for element in array.elements.iter().flatten() {
                    self.bind(element, Value::Other, keeps);
                }
                if let Some(rest) = &array.rest {
                    self.bind(&rest.argument, Value::Other, keeps);
                }
            }
            BindingPattern::AssignmentPattern(assignment) => {
                let value = self.with_default(value, &assignment.right);
                self.bind(&assignment.left, value, keeps);
            }
        }
    }

    fn bind_name(&mut self, id: &BindingIdentifier<'a>, value: Value, keeps: Keeps) {
        let at = id.span.start;
        // Whoever reads the name has to come upon this declaration.
        let found = self.scopes.get(id.name.as_str()).is_some_and(|binding| binding.at == at);
        if keeps == Keeps::Always && found {
            self.keep(at, value);
        } else {
            self.used(&value);
        }
    }

    fn bind_object(&mut self, object: &ObjectPattern<'a>, value: &Value, keeps: Keeps) {
        for property in &object.properties {
            let member = self.member_of_key(value, &property.key, property.computed);
            self.bind(&property.value, member, keeps);
        }
        if let Some(rest) = &object.rest {
            self.all_of(value);
            self.bind(&rest.argument, Value::Other, keeps);
        }
    }

    /// What stands at the key of a pattern.
    fn member_of_key(&mut self, value: &Value, key: &PropertyKey<'a>, computed: bool) -> Value {
        let at = key.span().start;
        if let Some(name) = key::of_property(key, computed) {
            return self.member(value.clone(), &name, at);
        }
        if let Some(expression) = key.as_expression() {
            self.visit_expression(expression);
        }
        self.computed(value, at);
        Value::Other
    }

    fn with_default(&mut self, value: Value, default: &Expression<'a>) -> Value {
        let default = self.evaluate(default);
        self.join(value, default)
    }

    /// Gives `value` to a target of an assignment, none of which is followed.
    pub(super) fn assign(&mut self, target: &AssignmentTarget<'a>, value: &Value) {
        match target {
            AssignmentTarget::AssignmentTargetIdentifier(_) => self.used(value),
            AssignmentTarget::ObjectAssignmentTarget(object) => self.assign_object(object, value),
            AssignmentTarget::ArrayAssignmentTarget(array) => self.assign_array(array, value),
            _ => {
                self.used(value);
                match target.as_member_expression() {
                    Some(member) => self.written_member(member),
                    None => self.visit_assignment_target(target),
                }
            }
        }
    }

    fn assign_object(&mut self, object: &ObjectAssignmentTarget<'a>, value: &Value) {
        for property in &object.properties {
            match property {
                AssignmentTargetProperty::AssignmentTargetPropertyIdentifier(property) => {
                    let id = &property.binding;
                    let mut member = self.member(value.clone(), &id.name, id.span.start);
                    if let Some(default) = &property.init {
                        member = self.with_default(member, default);
                    }
                    self.used(&member);
                }
                AssignmentTargetProperty::AssignmentTargetPropertyProperty(property) => {
                    let member = self.member_of_key(value, &property.name, property.computed);
                    self.assign_with_default(&property.binding, member);
                }
            }
        }
        if let Some(rest) = &object.rest {
            self.all_of(value);
            self.assign(&rest.target, &Value::Other);
        }
    }

    fn assign_array(&mut self, array: &ArrayAssignmentTarget<'a>, value: &Value) {
        self.used(value);
        for element in array.elements.iter().flatten() {
            self.assign_with_default(element, Value::Other);
        }
        if let Some(rest) = &array.rest {
            self.assign(&rest.target, &Value::Other);
        }
    }

    fn assign_with_default(&mut self, target: &AssignmentTargetMaybeDefault<'a>, value: Value) {
        match target {
            AssignmentTargetMaybeDefault::AssignmentTargetWithDefault(target) => {
                let value = self.with_default(value, &target.init);
                self.assign(&target.binding, &value);
            }
            _ => match target.as_assignment_target() {
                Some(target) => self.assign(target, &value),
                None => self.used(&value),
            },
        }
    }
}
