//! Which declaration a name belongs to.
//!
//! Names are declared per scope before its text is walked, as the language hoists them. A declaration that is missed
//! makes a name mean more than it does, never less: it is then taken for a name of the language or of the host.

use std::collections::HashMap;

use oxc_ast::ast::{
    BindingPattern, Declaration, Expression, ForStatementInit, ForStatementLeft, FormalParameters, Statement,
    VariableDeclaration,
};
use oxc_ast_visit::VisitJs;

/// A declared name, and the offset of the identifier that declares it.
pub(super) type Declared<'a> = (&'a str, u32);

#[derive(Clone, Copy, Debug)]
pub(super) struct Binding {
    pub(super) at: u32,
    /// Whether the program itself declares it, outside of every block and function.
    pub(super) top: bool,
}

/// The names that are declared around a place.
#[derive(Default)]
pub(super) struct Scopes<'a> {
    names: HashMap<&'a str, Vec<Binding>>,
    open: Vec<Vec<Declared<'a>>>,
}

impl<'a> Scopes<'a> {
    pub(super) fn open(&mut self, declared: Vec<Declared<'a>>) {
        let top = self.open.is_empty();
        for &(name, at) in &declared {
            self.names.entry(name).or_default().push(Binding { at, top });
        }
        self.open.push(declared);
    }

    pub(super) fn close(&mut self) {
        for (name, _) in self.open.pop().unwrap_or_default() {
            if let Some(bindings) = self.names.get_mut(name) {
                bindings.pop();
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Binding> {
        self.names.get(name)?.last().copied()
    }
}

/// What a program or the body of a function declares for all of itself.
pub(super) fn of_body<'a>(statements: &[Statement<'a>]) -> Vec<Declared<'a>> {
    let mut variables = Variables { declared: of_block(statements) };
    for statement in statements {
        variables.visit_statement(statement);
    }
    variables.declared
}

/// What the statements of a block declare for it: `let`, `const`, `using`, classes and functions.
pub(super) fn of_block<'a>(statements: &[Statement<'a>]) -> Vec<Declared<'a>> {
    let mut declared = Vec::new();
    for mut statement in statements {
        while let Statement::LabeledStatement(labelled) = statement {
            statement = &labelled.body;
        }
        let id = match statement.as_declaration() {
            Some(Declaration::VariableDeclaration(variables)) => {
                declared.extend(of_lexical(variables));
                None
            }
            Some(Declaration::FunctionDeclaration(function)) => function.id.as_ref(),
            Some(Declaration::ClassDeclaration(class)) => class.id.as_ref(),
            _ => None,
        };
        declared.extend(id.map(|id| (id.name.as_str(), id.span.start)));
    }
    declared
}

pub(super) fn of_for<'a>(init: Option<&ForStatementInit<'a>>) -> Vec<Declared<'a>> {
    match init {
        Some(ForStatementInit::VariableDeclaration(variables)) => of_lexical(variables),
        _ => Vec::new(),
    }
}

pub(super) fn of_for_each<'a>(left: &ForStatementLeft<'a>) -> Vec<Declared<'a>> {
    match left {
        ForStatementLeft::VariableDeclaration(variables) => of_lexical(variables),
        _ => Vec::new(),
    }
}

pub(super) fn of_parameters<'a>(parameters: &FormalParameters<'a>) -> Vec<Declared<'a>> {
    let mut declared = Vec::new();
    for parameter in &parameters.items {
        of_pattern(&parameter.pattern, &mut declared);
    }
    if let Some(rest) = &parameters.rest {
        of_pattern(&rest.rest.argument, &mut declared);
    }
    declared
}

fn of_lexical<'a>(variables: &VariableDeclaration<'a>) -> Vec<Declared<'a>> {
    if variables.kind.is_var() { Vec::new() } else { of_variables(variables) }
}

fn of_variables<'a>(variables: &VariableDeclaration<'a>) -> Vec<Declared<'a>> {
    let mut declared = Vec::new();
    for variable in &variables.declarations {
        of_pattern(&variable.id, &mut declared);
    }
    declared
}

/// Its recursion goes as deep as the parser's.
pub(super) fn of_pattern<'a>(pattern: &BindingPattern<'a>, declared: &mut Vec<Declared<'a>>) {
    match pattern {
        BindingPattern::BindingIdentifier(id) => declared.push((id.name.as_str(), id.span.start)),
        BindingPattern::ObjectPattern(object) => {
            for property in &object.properties {
                of_pattern(&property.value, declared);
            }
            if let Some(rest) = &object.rest {
                of_pattern(&rest.argument, declared);
            }
        }
        BindingPattern::ArrayPattern(array) => {
            for element in array.elements.iter().flatten() {
                of_pattern(element, declared);
            }
            if let Some(rest) = &array.rest {
                of_pattern(&rest.argument, declared);
            }
        }
        BindingPattern::AssignmentPattern(assignment) => of_pattern(&assignment.left, declared),
    }
}

/// Collects the `var`s of statements, those in functions apart.
struct Variables<'a> {
    declared: Vec<Declared<'a>>,
}

impl<'a> VisitJs<'a> for Variables<'a> {
    fn visit_declaration(&mut self, declaration: &Declaration<'a>) {
        if let Declaration::VariableDeclaration(variables) = declaration {
            self.visit_variable_declaration(variables);
        }
    }

    fn visit_variable_declaration(&mut self, variables: &VariableDeclaration<'a>) {
        if variables.kind.is_var() {
            self.declared.extend(of_variables(variables));
        }
    }

    fn visit_expression(&mut self, _: &Expression<'a>) {}

    fn visit_binding_pattern(&mut self, _: &BindingPattern<'a>) {}
}
