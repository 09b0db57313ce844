//! The scopes and statements of a program, in the order in which the language sees them.

use oxc_ast::ast::{
    ArrowFunctionBody, ArrowFunctionExpression, BindingPattern, BlockStatement, CallExpression, CatchClause, Class,
    ClassElement, Declaration, DoWhileStatement, Expression, ExpressionStatement, ForInStatement, ForOfStatement,
    ForStatement, ForStatementLeft, FormalParameter, FormalParameters, Function, FunctionBody, IdentifierReference,
    IfStatement, MemberExpression, ObjectProperty, Program, Statement, StaticBlock, SwitchStatement, ThisExpression,
    VariableDeclaration, WhileStatement, WithStatement,
};
use oxc_ast_visit::{VisitJs, walk_js};

use super::findings;
use super::pattern::Keeps;
use super::scopes;
use super::value::Value;
use super::walk::Walk;

impl<'a> Walk<'a, '_> {
    /// A function, and what it is as a value.
    pub(super) fn function(&mut self, function: &Function<'a>) -> Value {
        let own = function.is_expression().then_some(function.id.as_ref()).flatten();
        self.scopes.open(own.map(|id| (id.name.as_str(), id.span.start)).into_iter().collect());
        self.scopes.open(scopes::of_parameters(&function.params));
        self.parameters(&function.params);
        if let Some(body) = &function.body {
            self.body(body);
        }
        self.scopes.close();
        self.scopes.close();
        Value::Other
    }

    /// Defaults are evaluated beside the body, not within: they do not see what it declares.
    fn parameters(&mut self, parameters: &FormalParameters<'a>) {
        for parameter in &parameters.items {
            self.visit_formal_parameter(parameter);
        }
        if let Some(rest) = &parameters.rest {
            self.bind(&rest.rest.argument, Value::Other, Keeps::Unclear);
        }
    }

    fn body(&mut self, body: &FunctionBody<'a>) {
        self.statements_of(scopes::of_body(&body.statements), &body.statements);
    }

    fn statements_of(&mut self, declared: Vec<scopes::Declared<'a>>, statements: &[Statement<'a>]) {
        self.scopes.open(declared);
        for statement in statements {
            self.visit_statement(statement);
        }
        self.scopes.close();
    }

    /// Code of a class; computed names of its members stand outside of it.
    fn member_of_class(&mut self, element: &ClassElement<'a>) {
        let outside = std::mem::replace(&mut self.in_class, true);
        match element {
            ClassElement::StaticBlock(block) => self.visit_static_block(block),
            ClassElement::MethodDefinition(method) => _ = self.function(&method.value),
            ClassElement::PropertyDefinition(property) => {
                if let Some(value) = &property.value {
                    self.visit_expression(value);
                }
            }
            ClassElement::AccessorProperty(property) => {
                if let Some(value) = &property.value {
                    self.visit_expression(value);
                }
            }
            ClassElement::TSIndexSignature(_) => {}
        }
        self.in_class = outside;
    }

    fn for_each(&mut self, left: &ForStatementLeft<'a>, right: &Expression<'a>, body: &Statement<'a>) {
        self.visit_expression(right);
        self.scopes.open(scopes::of_for_each(left));
        match left {
            ForStatementLeft::VariableDeclaration(variables) => {
                for variable in &variables.declarations {
                    self.declare(variable, Keeps::Unclear);
                }
            }
            _ => match left.as_assignment_target() {
                Some(target) => self.assign(target, &Value::Other),
                None => walk_js::walk_for_statement_left(self, left),
            },
        }
        self.visit_statement(body);
        self.scopes.close();
    }
}

impl<'a> VisitJs<'a> for Walk<'a, '_> {
    fn visit_program(&mut self, program: &Program<'a>) {
        self.statements_of(scopes::of_body(&program.body), &program.body);
    }

    fn visit_declaration(&mut self, declaration: &Declaration<'a>) {
        match declaration {
            Declaration::FunctionDeclaration(function) => _ = self.function(function),
            _ => walk_js::walk_declaration(self, declaration),
        }
    }

    fn visit_variable_declaration(&mut self, variables: &VariableDeclaration<'a>) {
        let keeps = if variables.kind.is_const() { Keeps::Always } else { Keeps::Unclear };
        for variable in &variables.declarations {
            self.declare(variable, keeps);
        }
    }

    fn visit_binding_pattern(&mut self, pattern: &BindingPattern<'a>) {
        self.bind(pattern, Value::Other, Keeps::Unclear);
    }

    fn visit_formal_parameter(&mut self, parameter: &FormalParameter<'a>) {
        let value = parameter.initializer.as_ref().map_or(Value::Other, |default| self.evaluate(default));
        self.bind(&parameter.pattern, value, Keeps::Unclear);
    }

    fn visit_arrow_function_expression(&mut self, arrow: &ArrowFunctionExpression<'a>) {
        self.scopes.open(scopes::of_parameters(&arrow.params));
        self.parameters(&arrow.params);
        match &arrow.body {
            ArrowFunctionBody::FunctionBody(body) => self.body(body),
            body => walk_js::walk_arrow_function_body(self, body),
        }
        self.scopes.close();
    }

    fn visit_class(&mut self, class: &Class<'a>) {
        self.scopes.open(class.id.as_ref().map(|id| (id.name.as_str(), id.span.start)).into_iter().collect());
        if let Some(heritage) = &class.heritage {
            self.visit_expression(&heritage.expression);
        }
        for element in &class.body.body {
            if let Some(key) = element.property_key() {
                self.visit_key(key, element.computed());
            }
            self.member_of_class(element);
        }
        self.scopes.close();
    }

    fn visit_static_block(&mut self, block: &StaticBlock<'a>) {
        self.statements_of(scopes::of_body(&block.body), &block.body);
    }

    fn visit_object_property(&mut self, property: &ObjectProperty<'a>) {
        self.visit_key(&property.key, property.computed);
        self.visit_expression(&property.value);
    }

    fn visit_block_statement(&mut self, block: &BlockStatement<'a>) {
        self.statements_of(scopes::of_block(&block.body), &block.body);
    }

    fn visit_for_statement(&mut self, statement: &ForStatement<'a>) {
        self.scopes.open(scopes::of_for(statement.init.as_ref()));
        if let Some(init) = &statement.init {
            self.visit_for_statement_init(init);
        }
        for expression in statement.test.iter().chain(&statement.update) {
            self.look_at(expression);
        }
        self.visit_statement(&statement.body);
        self.scopes.close();
    }

    fn visit_for_in_statement(&mut self, statement: &ForInStatement<'a>) {
        self.for_each(&statement.left, &statement.right, &statement.body);
    }

    fn visit_for_of_statement(&mut self, statement: &ForOfStatement<'a>) {
        self.for_each(&statement.left, &statement.right, &statement.body);
    }

    fn visit_switch_statement(&mut self, statement: &SwitchStatement<'a>) {
        self.look_at(&statement.discriminant);
        self.scopes.open(statement.cases.iter().flat_map(|case| scopes::of_block(&case.consequent)).collect());
        for case in &statement.cases {
            if let Some(test) = &case.test {
                self.look_at(test);
            }
            for statement in &case.consequent {
                self.visit_statement(statement);
            }
        }
        self.scopes.close();
    }

    fn visit_catch_clause(&mut self, clause: &CatchClause<'a>) {
        let mut declared = Vec::new();
        if let Some(parameter) = &clause.param {
            scopes::of_pattern(&parameter.pattern, &mut declared);
        }
        self.scopes.open(declared);
        if let Some(parameter) = &clause.param {
            self.bind(&parameter.pattern, Value::Other, Keeps::Unclear);
        }
        self.visit_block_statement(&clause.body);
        self.scopes.close();
    }

    fn visit_with_statement(&mut self, statement: &WithStatement<'a>) {
        self.unknown(findings::WITH, statement.span.start);
        walk_js::walk_with_statement(self, statement);
    }

    fn visit_expression_statement(&mut self, statement: &ExpressionStatement<'a>) {
        self.look_at(&statement.expression);
    }

    fn visit_if_statement(&mut self, statement: &IfStatement<'a>) {
        self.look_at(&statement.test);
        self.visit_statement(&statement.consequent);
        if let Some(alternate) = &statement.alternate {
            self.visit_statement(alternate);
        }
    }

    fn visit_while_statement(&mut self, statement: &WhileStatement<'a>) {
        self.look_at(&statement.test);
        self.visit_statement(&statement.body);
    }

    fn visit_do_while_statement(&mut self, statement: &DoWhileStatement<'a>) {
        self.visit_statement(&statement.body);
        self.look_at(&statement.test);
    }

    fn visit_expression(&mut self, expression: &Expression<'a>) {
        let value = self.evaluate(expression);
        self.used(&value);
    }

    // What the walk comes to by another way than through an expression.

    fn visit_identifier_reference(&mut self, identifier: &IdentifierReference<'a>) {
        let value = self.read(identifier);
        self.used(&value);
    }

    fn visit_member_expression(&mut self, member: &MemberExpression<'a>) {
        let value = self.access(member);
        self.used(&value);
    }

    fn visit_call_expression(&mut self, call: &CallExpression<'a>) {
        self.call(call);
    }

    fn visit_this_expression(&mut self, this: &ThisExpression) {
        let value = self.this(this.span.start);
        self.used(&value);
    }
}
