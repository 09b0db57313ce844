//! The walk over a program's tree. Each expression is looked at once: [`Walk::evaluate`] gives what it may be, and whoever
//! holds it says what is done with that. What nobody knows better is *used*: passed on to where it is not followed.
//!
//! The object of all tools is reached by the name `tools` alone, so no step on the way to the global object has to be
//! understood: a property of that name, on whatever object, may be it. The same goes for `eval`, `Function` and
//! `constructor`, through which a text becomes code.

use std::collections::HashMap;

use oxc_ast::ast::{Expression, IdentifierReference, PropertyKey, VariableDeclarator};
use oxc_ast_visit::VisitJs;

use super::super::parse::Reading;
use super::findings::{self, Findings};
use super::globals;
use super::pattern::Keeps;
use super::scopes::Scopes;
use super::tree::{ROOT, Tree};
use super::value::Value;

/// Names that are answered by the catalogue, and are no capabilities.
const LOOKUPS: [&str; 2] = ["$search", "$describe"];

/// Bytes of the path of a missing name; what goes on behind that is left out.
const MAX_PATH: usize = 200;

pub(super) struct Walk<'a, 'c> {
    pub(super) tree: Tree<'c>,
    pub(super) findings: Findings,
    pub(super) scopes: Scopes<'a>,
    /// What `const`s are, by the offset of the declared name.
    kept: HashMap<u32, Value>,
    /// Whether this walk found another value for one of them.
    pub(super) changed: bool,
    /// Whether what is found is kept; not in the walks before the last one, which find what `const`s are.
    pub(super) recording: bool,
    /// Whether `this` is that of code in a class, which never is the global object by itself.
    pub(super) in_class: bool,
    reading: Reading,
}

impl<'a, 'c> Walk<'a, 'c> {
    pub(super) fn new(tree: Tree<'c>, reading: Reading) -> Self {
        Self {
            tree,
            findings: Findings::default(),
            scopes: Scopes::default(),
            kept: HashMap::new(),
            changed: false,
            recording: false,
            in_class: false,
            reading,
        }
    }

    pub(super) fn unknown(&mut self, reason: &'static str, at: u32) {
        if self.recording {
            self.findings.unknown.push((at, reason));
        }
    }

    /// Notes that all there is under `value` may be reached, wherever it goes.
    pub(super) fn used(&mut self, value: &Value) {
        match *value {
            Value::Other | Value::Missing { .. } => {}
            Value::Tools { node: ROOT, sure: true, at } => self.unknown(findings::VALUE, at),
            Value::Tools { node: ROOT, sure: false, at } => self.unknown(findings::PROPERTY_VALUE, at),
            Value::Tools { node, at, .. } => {
                if self.recording {
                    self.tree.mention(node, at);
                }
            }
            Value::Global { at } => self.unknown(findings::GLOBAL_VALUE, at),
            Value::This { at } => self.unknown(findings::THIS_VALUE, at),
        }
    }

    /// What is only looked at, as by a condition, goes nowhere; a capability counts as mentioned.
    pub(super) fn seen(&mut self, value: &Value) {
        if let Value::Tools { node, .. } = *value
            && self.tree.is_capability(node)
        {
            self.used(value);
        }
    }

    /// Notes that the properties of `value` are copied.
    pub(super) fn all_of(&mut self, value: &Value) {
        match *value {
            Value::Tools { node, at, .. } => {
                if self.recording {
                    self.tree.mention(node, at);
                }
            }
            _ => self.used(value),
        }
    }

    /// What is one of the two, as far as both can be followed.
    pub(super) fn join(&mut self, one: Value, other: Value) -> Value {
        if one.is_idle() {
            return other;
        }
        if !other.is_idle() && other.clone().named_at(0) != one.clone().named_at(0) {
            self.used(&other);
        }
        one
    }

    /// Keeps what a `const` is. Its other names are as good as it, so that a namespace counts as mentioned here.
    pub(super) fn keep(&mut self, at: u32, value: Value) {
        let known = self.kept.get(&at).unwrap_or(&Value::Other);
        let same = known.clone().named_at(0) == value.clone().named_at(0);
        match &value {
            Value::Global { .. } | Value::This { .. } => return self.used(&value),
            // Text before this place was walked without it.
            Value::Tools { node: ROOT, .. } if same => {}
            _ => self.used(&value),
        }
        if !same {
            self.changed = true;
            self.kept.insert(at, value);
        }
    }

    /// What the property `name` of `object` may be.
    pub(super) fn member(&mut self, object: Value, name: &str, at: u32) -> Value {
        match object {
            Value::Tools { node, sure, at: named } => {
                if let Some(child) = self.tree.child(node, name) {
                    return Value::Tools { node: child, sure, at };
                }
                let capability = self.tree.is_capability(node);
                if capability {
                    self.used(&Value::Tools { node, sure, at: named });
                }
                if !sure || capability || name == "constructor" {
                    return self.other_member(name, at);
                }
                if node == ROOT && LOOKUPS.contains(&name) {
                    return Value::Other;
                }
                let mut path = String::from("tools");
                self.tree.parts(node).iter().for_each(|part| findings::push_member(&mut path, part));
                findings::push_member(&mut path, name);
                Value::Missing { path: findings::cut(&path), at }
            }
            Value::Missing { mut path, .. } => {
                if path.len() < MAX_PATH {
                    findings::push_member(&mut path, name);
                    path = findings::cut(&path);
                }
                Value::Missing { path, at }
            }
            Value::Global { .. } => self.global(name, at),
            Value::This { .. } if matches!(name, "globalThis" | "self") => Value::Global { at },
            Value::Other | Value::This { .. } => self.other_member(name, at),
        }
    }

    /// The property of an object of which nothing is known.
    pub(super) fn other_member(&mut self, name: &str, at: u32) -> Value {
        if let Some(node) = self.tree.global(name) {
            return Value::Tools { node, sure: false, at };
        }
        match name {
            "tools" => return Value::root(false, at),
            "eval" => self.unknown(findings::EVAL, at),
            "Function" => self.unknown(findings::FUNCTION, at),
            "constructor" => self.unknown(findings::CONSTRUCTOR, at),
            _ => {}
        }
        Value::Other
    }

    /// What the global object has under a name.
    fn global(&mut self, name: &str, at: u32) -> Value {
        if let Some(node) = self.tree.global(name) {
            return Value::Tools { node, sure: true, at };
        }
        match name {
            "tools" => Value::root(true, at),
            "globalThis" | "self" => Value::Global { at },
            "eval" | "Function" | "constructor" => self.other_member(name, at),
            _ => {
                if self.recording && !globals::is_harmless(name) {
                    self.findings.name(name, at);
                }
                Value::Other
            }
        }
    }

    /// Notes that a property of `object` is named by what the program computes.
    pub(super) fn computed(&mut self, object: &Value, at: u32) {
        match *object {
            Value::Other | Value::Missing { .. } => {}
            Value::Tools { node: ROOT, sure: true, .. } => self.unknown(findings::COMPUTED, at),
            Value::Tools { node: ROOT, sure: false, .. } => self.unknown(findings::PROPERTY_COMPUTED, at),
            Value::Tools { .. } => self.used(object),
            Value::Global { .. } => self.unknown(findings::GLOBAL_COMPUTED, at),
            Value::This { .. } => self.unknown(findings::THIS_COMPUTED, at),
        }
    }

    pub(super) fn read(&mut self, identifier: &IdentifierReference<'a>) -> Value {
        let (name, at) = (identifier.name.as_str(), identifier.span.start);
        self.note_await(identifier);
        match self.scopes.get(name) {
            Some(binding) if !(binding.top && self.outlives_declaration(name)) => {
                self.kept.get(&binding.at).cloned().unwrap_or(Value::Other).named_at(at)
            }
            _ => self.global(name, at),
        }
    }

    fn outlives_declaration(&self, name: &str) -> bool {
        globals::outlives_declaration(name) || self.tree.global(name).is_some()
    }

    /// To the guest, `await` is no name outside of functions, and what looks like a division is a regular expression.
    pub(super) fn note_await(&mut self, identifier: &IdentifierReference<'a>) {
        if self.reading == Reading::Script && identifier.name == "await" {
            self.unknown(findings::AWAIT, identifier.span.start);
        }
    }

    /// What an initialiser gives to a name that is not followed further.
    pub(super) fn declare(&mut self, variable: &VariableDeclarator<'a>, keeps: Keeps) {
        let value = variable.init.as_ref().map_or(Value::Other, |init| self.evaluate(init));
        self.bind(&variable.id, value, keeps);
    }

    /// Notes what is done with an expression that is only looked at.
    pub(super) fn look_at(&mut self, expression: &Expression<'a>) {
        // A text that something is compared with names no property.
        if let Expression::StringLiteral(_) = expression {
            return;
        }
        let value = self.evaluate(expression);
        self.seen(&value);
    }

    pub(super) fn visit_key(&mut self, key: &PropertyKey<'a>, computed: bool) {
        if computed && let Some(expression) = key.as_expression() {
            self.visit_expression(expression);
        }
    }

    pub(super) fn this(&self, at: u32) -> Value {
        if self.in_class { Value::Other } else { Value::This { at } }
    }
}
