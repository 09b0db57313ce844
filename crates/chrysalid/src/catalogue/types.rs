//! TypeScript types as a tree, and how they are written: on one line where that is short, else a field a line.

use super::{comment, names};

/// Columns up to which an object stays on one line.
const WIDTH: usize = 110;

/// A type. Depth and size are bounded where the tree is made.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    /// A keyword or a literal.
    Word(String),
    /// `unknown`, with the reason as a comment.
    Unknown(String),
    /// The definition of this number in its document.
    Named(usize),
    Union(Vec<Type>),
    Intersection(Vec<Type>),
    Array(Box<Type>),
    Tuple {
        items: Vec<Type>,
        required: usize,
        rest: Option<Box<Type>>,
    },
    Object(Vec<Field>),
}

/// A field of an object type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) key: Key,
    pub(super) comment: Vec<String>,
    pub(super) of: Type,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Required(String),
    Optional(String),
    /// Every other name: `[key: string]`.
    Rest,
}

impl Type {
    pub(super) fn word(text: &str) -> Self {
        Self::Word(text.to_owned())
    }

    pub(super) fn unknown() -> Self {
        Self::word("unknown")
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::Word(word) if word == "unknown")
    }

    fn is_any_object(&self) -> bool {
        let Self::Object(fields) = self else { return false };
        matches!(fields.as_slice(), [Field { key: Key::Rest, comment, of }] if comment.is_empty() && of.is_unknown())
    }

    /// One of these: each once, `unknown` when that is one of them, `never` for none.
    pub(super) fn union(types: Vec<Self>) -> Self {
        let mut members: Vec<Self> = Vec::new();
        for of in types {
            match of {
                of if of.is_unknown() => return of,
                Self::Union(inner) => inner.into_iter().for_each(|of| add(&mut members, of)),
                of => add(&mut members, of),
            }
        }
        members.retain(|of| *of != Self::word("never"));
        one_or(members, "never", Self::Union)
    }

    /// All of these; `unknown` adds nothing, and neither does an object of any fields.
    pub(super) fn intersection(types: Vec<Self>) -> Self {
        let mut members: Vec<Self> = Vec::new();
        for of in types {
            match of {
                of if of.is_unknown() => {}
                Self::Intersection(inner) => inner.into_iter().for_each(|of| add(&mut members, of)),
                of => add(&mut members, of),
            }
        }
        if members.len() > 1 {
            members.retain(|of| !of.is_any_object());
        }
        one_or(members, "unknown", Self::Intersection)
    }

    /// The definitions that must be known before this one: TypeScript puts off fields, elements of arrays, and those of
    /// plain tuples.
    pub(super) fn direct(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Self::Named(definition) => visit(*definition),
            Self::Union(members) | Self::Intersection(members) => {
                for member in members {
                    member.direct(visit);
                }
            }
            Self::Array(of) => of.put_off(visit),
            Self::Tuple { items, required, rest: None } if *required == items.len() => {
                for item in items {
                    item.put_off(visit);
                }
            }
            Self::Tuple { items, rest, .. } => {
                items.iter().chain(rest.as_deref()).for_each(|item| item.at_once(visit));
            }
            Self::Word(_) | Self::Unknown(_) | Self::Object(_) => {}
        }
    }

    /// As [`Type::direct`], without the names that stand here themselves.
    fn put_off(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Self::Named(_) => {}
            Self::Union(members) | Self::Intersection(members) => {
                for member in members {
                    member.put_off(visit);
                }
            }
            other => other.direct(visit),
        }
    }

    /// All names outside of objects.
    fn at_once(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Self::Named(definition) => visit(*definition),
            Self::Object(_) => {}
            other => other.parts(&mut |part| part.at_once(visit)),
        }
    }

    /// All definitions that are named in this type, in the order of the text.
    pub(super) fn named(&self, visit: &mut dyn FnMut(usize)) {
        if let Self::Named(definition) = self {
            visit(*definition);
        }
        self.parts(&mut |part| part.named(visit));
    }

    fn parts(&self, visit: &mut dyn FnMut(&Self)) {
        match self {
            Self::Word(_) | Self::Unknown(_) | Self::Named(_) => {}
            Self::Union(members) | Self::Intersection(members) => members.iter().for_each(visit),
            Self::Array(of) => visit(of),
            Self::Tuple { items, rest, .. } => items.iter().chain(rest.as_deref()).for_each(visit),
            Self::Object(fields) => fields.iter().for_each(|field| visit(&field.of)),
        }
    }

    /// The text, for a place in a line that begins at `indent` and has come to `column`. `names` are those of the
    /// definitions.
    pub(super) fn text(&self, names: &[String], indent: usize, column: usize) -> String {
        match self.flat(names) {
            Some(flat) if column + flat.chars().count() <= WIDTH => flat,
            _ => self.tall(names, indent),
        }
    }

    /// On one line; `None` when a comment in it has several.
    fn flat(&self, names: &[String]) -> Option<String> {
        Some(match self {
            Self::Word(word) => word.clone(),
            Self::Unknown(why) => format!("unknown /* {why} */"),
            Self::Named(definition) => names.get(*definition).cloned().unwrap_or_else(|| "unknown".to_owned()),
            Self::Union(members) => joined(members, " | ", |member| member.flat(names))?,
            Self::Intersection(members) => joined(members, " & ", |member| member.grouped(member.flat(names)))?,
            Self::Array(of) => format!("{}[]", of.grouped(of.flat(names))?),
            Self::Tuple { .. } => self.tuple(|of| of.flat(names))?,
            Self::Object(fields) if fields.is_empty() => "{}".to_owned(),
            Self::Object(fields) => {
                let fields: Option<Vec<String>> = fields.iter().map(|field| field.flat(names)).collect();
                format!("{{ {} }}", fields?.join("; "))
            }
        })
    }

    /// A field a line.
    fn tall(&self, names: &[String], indent: usize) -> String {
        let inner = |of: &Self| Some(of.text(names, indent, indent));
        let text = match self {
            Self::Word(_) | Self::Unknown(_) | Self::Named(_) => self.flat(names),
            Self::Union(members) => joined(members, " | ", inner),
            Self::Intersection(members) => joined(members, " & ", |member| member.grouped(inner(member))),
            Self::Array(of) => of.grouped(inner(of)).map(|of| format!("{of}[]")),
            Self::Tuple { .. } => self.tuple(inner),
            Self::Object(fields) => {
                let lines: String = fields.iter().map(|field| field.tall(names, indent + 2)).collect();
                Some(format!("{{\n{lines}{}}}", " ".repeat(indent)))
            }
        };
        text.unwrap_or_default()
    }

    fn tuple(&self, text: impl Fn(&Self) -> Option<String>) -> Option<String> {
        let Self::Tuple { items, required, rest } = self else { return None };
        let mut parts = Vec::with_capacity(items.len() + 1);
        for (index, item) in items.iter().enumerate() {
            let optional = index >= *required;
            let item = if optional { item.grouped(text(item))? } else { text(item)? };
            parts.push(if optional { format!("{item}?") } else { item });
        }
        if let Some(rest) = rest {
            parts.push(format!("...{}[]", rest.grouped(text(rest))?));
        }
        Some(format!("[{}]", parts.join(", ")))
    }

    fn grouped(&self, text: Option<String>) -> Option<String> {
        let text = text?;
        let group = matches!(self, Self::Union(_) | Self::Intersection(_) | Self::Unknown(_));
        Some(if group { format!("({text})") } else { text })
    }
}

impl Field {
    fn head(&self) -> String {
        match &self.key {
            Key::Required(name) => format!("{}: ", names::key(name)),
            Key::Optional(name) => format!("{}?: ", names::key(name)),
            Key::Rest => "[key: string]: ".to_owned(),
        }
    }

    fn flat(&self, names: &[String]) -> Option<String> {
        let of = self.of.flat(names)?;
        match self.comment.as_slice() {
            [] => Some(format!("{}{of}", self.head())),
            [only] => Some(format!("/** {only} */ {}{of}", self.head())),
            _ => None,
        }
    }

    fn tall(&self, names: &[String], indent: usize) -> String {
        let head = self.head();
        let of = self.of.text(names, indent, indent + head.chars().count());
        format!("{}{}{head}{of};\n", comment::block(&self.comment, indent), " ".repeat(indent))
    }
}

fn add(members: &mut Vec<Type>, of: Type) {
    if !members.contains(&of) {
        members.push(of);
    }
}

fn one_or(mut members: Vec<Type>, none: &str, many: impl FnOnce(Vec<Type>) -> Type) -> Type {
    match members.len() {
        0 => Type::word(none),
        1 => members.remove(0),
        _ => many(members),
    }
}

fn joined(members: &[Type], with: &str, text: impl Fn(&Type) -> Option<String>) -> Option<String> {
    members.iter().map(text).collect::<Option<Vec<_>>>().map(|parts| parts.join(with))
}
