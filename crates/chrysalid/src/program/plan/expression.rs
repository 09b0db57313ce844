//! What each kind of expression may be, and what it does with its parts.

use oxc_ast::ast::{
    Argument, AssignmentExpression, AssignmentOperator, AssignmentTarget, BinaryExpression, BinaryOperator,
    CallExpression, ChainElement, ConditionalExpression, Expression, LogicalExpression, LogicalOperator,
    MemberExpression, NewExpression, SequenceExpression, StaticMemberExpression, TaggedTemplateExpression,
    UnaryExpression, UnaryOperator, match_member_expression,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::GetSpan;

use super::super::IMPORT_FUNCTION;
use super::findings;
use super::key;
use super::value::Value;
use super::walk::Walk;

impl<'a> Walk<'a, '_> {
    /// What an expression may be. Everything in it is looked at, once.
    pub(super) fn evaluate(&mut self, expression: &Expression<'a>) -> Value {
        match expression {
            Expression::Identifier(it) => self.read(it),
            Expression::ThisExpression(it) => self.this(it.span.start),
            Expression::ParenthesizedExpression(it) => self.evaluate(&it.expression),
            Expression::TSAsExpression(it) => self.evaluate(&it.expression),
            Expression::TSSatisfiesExpression(it) => self.evaluate(&it.expression),
            Expression::TSTypeAssertion(it) => self.evaluate(&it.expression),
            Expression::TSNonNullExpression(it) => self.evaluate(&it.expression),
            Expression::TSInstantiationExpression(it) => self.evaluate(&it.expression),
            Expression::ChainExpression(it) => match &it.expression {
                ChainElement::CallExpression(it) => self.call(it),
                ChainElement::TSNonNullExpression(it) => self.evaluate(&it.expression),
                element => element.as_member_expression().map_or(Value::Other, |member| self.access(member)),
            },
            match_member_expression!(Expression) => self.access(expression.to_member_expression()),
            Expression::CallExpression(it) => self.call(it),
            Expression::NewExpression(it) => self.construct(it),
            Expression::TaggedTemplateExpression(it) => self.tagged(it),
            Expression::AwaitExpression(it) => self.awaited(&it.argument),
            Expression::SequenceExpression(it) => self.sequence(it),
            Expression::ConditionalExpression(it) => self.conditional(it),
            Expression::LogicalExpression(it) => self.logical(it),
            Expression::UnaryExpression(it) => self.unary(it),
            Expression::BinaryExpression(it) => self.binary(it),
            Expression::AssignmentExpression(it) => self.assignment(it),
            Expression::FunctionExpression(it) => self.function(it),
            Expression::ImportExpression(it) => self.import(Some(&it.source), it.span.start),
            _ => self.other_expression(expression),
        }
    }

    fn other_expression(&mut self, expression: &Expression<'a>) -> Value {
        let text = match expression {
            Expression::StringLiteral(it) => key::of_string(it),
            Expression::TemplateLiteral(it) => key::of_template(it),
            _ => None,
        };
        // As in `Reflect.get(f, "constructor")`.
        match text {
            Some("tools") => self.unknown(findings::TEXT, expression.span().start),
            Some(text) => _ = self.other_member(text, expression.span().start),
            None => {}
        }
        walk_js::walk_expression(self, expression);
        Value::Other
    }

    pub(super) fn access(&mut self, member: &MemberExpression<'a>) -> Value {
        match member {
            MemberExpression::StaticMemberExpression(it) => self.static_access(it),
            MemberExpression::ComputedMemberExpression(it) => {
                let object = self.evaluate(&it.object);
                let at = it.expression.span().start;
                if let Some(name) = key::of_expression(&it.expression) {
                    return self.member(object, &name, at);
                }
                self.visit_expression(&it.expression);
                self.computed(&object, at);
                Value::Other
            }
            MemberExpression::PrivateFieldExpression(it) => {
                self.look_at(&it.object);
                Value::Other
            }
        }
    }

    fn static_access(&mut self, member: &StaticMemberExpression<'a>) -> Value {
        let (name, at) = (member.property.name.as_str(), member.property.span.start);
        if name == "name"
            && let Some(constructor) = constructor_of(&member.object)
        {
            // `error.constructor.name` is a text.
            return self.only_constructor(constructor);
        }
        let object = self.evaluate(&member.object);
        self.member(object, name, at)
    }

    /// Looks at `….constructor` where it cannot be called.
    fn only_constructor(&mut self, member: &StaticMemberExpression<'a>) -> Value {
        let object = self.evaluate(&member.object);
        if !matches!(object, Value::Other | Value::This { .. }) {
            self.member(object, "constructor", member.property.span.start);
        }
        Value::Other
    }

    /// A member that is written or deleted. Tools cannot be changed, and what is written elsewhere was looked at.
    pub(super) fn written_member(&mut self, member: &MemberExpression<'a>) {
        let object = self.evaluate(member.object());
        let (name, at) = match member {
            MemberExpression::StaticMemberExpression(it) => {
                (Some(it.property.name.as_str().into()), it.property.span.start)
            }
            MemberExpression::ComputedMemberExpression(it) => {
                (key::of_expression(&it.expression), it.expression.span().start)
            }
            MemberExpression::PrivateFieldExpression(_) => return self.seen(&object),
        };
        match (name, member) {
            (Some(name), _) => {
                if let Value::Tools { .. } = object {
                    let value = self.member(object, &name, at);
                    self.seen(&value);
                }
            }
            (None, MemberExpression::ComputedMemberExpression(it)) => {
                self.visit_expression(&it.expression);
                self.computed(&object, at);
            }
            (None, _) => self.used(&object),
        }
    }

    pub(super) fn call(&mut self, call: &CallExpression<'a>) -> Value {
        if let Expression::Identifier(callee) = &call.callee
            && callee.name == IMPORT_FUNCTION
        {
            let source = call.arguments.first().and_then(Argument::as_expression);
            return self.import(source, call.span.start);
        }
        let callee = self.evaluate(&call.callee);
        self.called(callee, call.optional);
        self.arguments(&call.arguments)
    }

    fn construct(&mut self, new: &NewExpression<'a>) -> Value {
        let callee = self.evaluate(&new.callee);
        self.called(callee, false);
        self.arguments(&new.arguments)
    }

    fn tagged(&mut self, tagged: &TaggedTemplateExpression<'a>) -> Value {
        let tag = self.evaluate(&tagged.tag);
        self.called(tag, false);
        self.visit_template_literal(&tagged.quasi);
        Value::Other
    }

    /// What a call gives is never a tool.
    fn arguments(&mut self, arguments: &[Argument<'a>]) -> Value {
        for argument in arguments {
            self.visit_argument(argument);
        }
        Value::Other
    }

    /// Notes a call of `callee`. One of the form `tools.x?.()` does not fail where `x` is missing.
    fn called(&mut self, callee: Value, optional: bool) {
        match callee {
            Value::Tools { node, at, .. } if self.tree.is_capability(node) => {
                if self.recording {
                    self.tree.call(node, at);
                }
            }
            Value::Missing { path, at } if self.recording && !optional => self.findings.missing.push((at, path)),
            _ => self.used(&callee),
        }
    }

    fn import(&mut self, source: Option<&Expression<'a>>, at: u32) -> Value {
        match source.and_then(key::of_expression) {
            Some(name) if self.recording => self.findings.module(&name),
            Some(_) => {}
            None => {
                self.unknown(findings::IMPORT, at);
                if let Some(source) = source {
                    self.visit_expression(source);
                }
            }
        }
        Value::Other
    }

    /// Tools have no `then`, so that waiting for one gives itself.
    fn awaited(&mut self, argument: &Expression<'a>) -> Value {
        match self.evaluate(argument) {
            value @ Value::Tools { .. } => value,
            value => {
                self.used(&value);
                Value::Other
            }
        }
    }

    fn sequence(&mut self, sequence: &SequenceExpression<'a>) -> Value {
        let mut value = Value::Other;
        for expression in &sequence.expressions {
            self.seen(&value);
            value = self.evaluate(expression);
        }
        value
    }

    fn conditional(&mut self, conditional: &ConditionalExpression<'a>) -> Value {
        self.look_at(&conditional.test);
        let one = self.evaluate(&conditional.consequent);
        let other = self.evaluate(&conditional.alternate);
        self.join(one, other)
    }

    fn logical(&mut self, logical: &LogicalExpression<'a>) -> Value {
        let left = self.evaluate(&logical.left);
        let right = self.evaluate(&logical.right);
        if logical.operator == LogicalOperator::And {
            // What comes out of the left side is falsy, so no tool.
            self.seen(&left);
            return right;
        }
        self.join(left, right)
    }

    fn unary(&mut self, unary: &UnaryExpression<'a>) -> Value {
        let argument = unary.argument.get_inner_expression();
        match (unary.operator, argument) {
            (UnaryOperator::Typeof, Expression::Identifier(identifier)) => self.note_await(identifier),
            (UnaryOperator::Typeof | UnaryOperator::LogicalNot | UnaryOperator::Void, _) => self.look_at(argument),
            (UnaryOperator::Delete, match_member_expression!(Expression)) => {
                self.written_member(argument.to_member_expression());
            }
            // Of a member that the chain may not reach, no part is spared.
            (UnaryOperator::Delete, Expression::ChainExpression(chain)) => {
                if let Some(member) = chain.expression.as_member_expression() {
                    self.written_member(member);
                } else {
                    self.visit_expression(argument);
                }
            }
            _ => self.visit_expression(argument),
        }
        Value::Other
    }

    fn binary(&mut self, binary: &BinaryExpression<'a>) -> Value {
        match binary.operator {
            BinaryOperator::StrictEquality | BinaryOperator::StrictInequality => {
                for side in [&binary.left, &binary.right] {
                    match constructor_of(side) {
                        Some(constructor) => _ = self.only_constructor(constructor),
                        None => self.look_at(side),
                    }
                }
            }
            BinaryOperator::Equality | BinaryOperator::Inequality => {
                self.look_at(&binary.left);
                self.look_at(&binary.right);
            }
            BinaryOperator::Instanceof if is_function(&binary.right) => self.look_at(&binary.left),
            _ => {
                self.visit_expression(&binary.left);
                self.visit_expression(&binary.right);
            }
        }
        Value::Other
    }

    fn assignment(&mut self, assignment: &AssignmentExpression<'a>) -> Value {
        let value = self.evaluate(&assignment.right);
        if assignment.operator == AssignmentOperator::Assign {
            self.assign(&assignment.left, &value);
            return value;
        }
        self.used(&value);
        let before = match &assignment.left {
            AssignmentTarget::AssignmentTargetIdentifier(it) => self.read(it),
            left => {
                if let Some(member) = left.as_member_expression() {
                    self.access(member)
                } else {
                    self.visit_assignment_target(left);
                    Value::Other
                }
            }
        };
        self.used(&before);
        Value::Other
    }
}

/// The expression, if it is `….constructor`.
fn constructor_of<'e, 'a>(expression: &'e Expression<'a>) -> Option<&'e StaticMemberExpression<'a>> {
    match expression.get_inner_expression() {
        Expression::StaticMemberExpression(member) if member.property.name == "constructor" => Some(member),
        _ => None,
    }
}

fn is_function(expression: &Expression) -> bool {
    matches!(expression, Expression::Identifier(identifier) if identifier.name == "Function")
}
