//! Where each tool stands under `tools`: its raw name, and an alias where that is no path of identifiers.

use std::collections::BTreeMap;
use std::fmt;

use super::names::{camel, is_identifier};
use crate::program::means_something;

/// Bytes of a name.
const MAX_NAME: usize = 256;
/// Ends of a path that the language itself would look for and call.
const HIDDEN: [&str; 2] = ["then", "toJSON"];

/// Why a set of tools has no catalogue. The message names the tools.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum CatalogueError {
    /// Two tools would stand at one path, or one of them inside the other.
    Collision {
        /// Raw name of the first tool by name.
        first: String,
        /// Raw name of the other.
        second: String,
        /// The path at which they meet, such as `getUser`.
        path: String,
    },
    /// A name that begins with `$`, which is kept for the interpreter.
    Reserved(String),
    /// A name that is empty, longer than 256 bytes, has control characters, or an empty part between dots.
    Malformed(String),
    /// The name of a global function that is no identifier, or to which the language gives a meaning.
    NoGlobal(String),
}

impl fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collision { first, second, .. } if first == second => write!(f, "two tools are named {first:?}"),
            Self::Collision { first, second, path } => {
                write!(f, "tools {first:?} and {second:?} cannot both be reached: they meet at tools.{path}")
            }
            Self::Reserved(name) => write!(f, "tool name {name:?} begins with \"$\", which is reserved"),
            Self::NoGlobal(name) => {
                write!(
                    f,
                    "tool name {name:?} cannot be a global function: it is no identifier, or means something else"
                )
            }
            Self::Malformed(name) => {
                write!(f, "tool name {name:?} is not made of visible parts joined by dots, at most {MAX_NAME} bytes")
            }
        }
    }
}

impl std::error::Error for CatalogueError {}

/// The paths of one tool. At least one of the two is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Paths {
    /// Whether the raw name is itself a path. A name that ends in `then` or `toJSON` is not.
    pub(super) raw: bool,
    pub(super) alias: Option<String>,
}

/// The paths of tools with these names, which are sorted. The result does not depend on their order.
pub(super) fn place(names: &[&str]) -> Result<Vec<Paths>, CatalogueError> {
    for pair in names.windows(2) {
        if let [first, second] = pair
            && first == second
        {
            return Err(collision(first, second, first));
        }
    }
    names.iter().try_for_each(|name| check(name))?;
    let mut spellings: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.iter().filter(|name| is_path(name)) {
        *spellings.entry(spelling(name)).or_default() += 1;
    }
    let places: Vec<Paths> = names
        .iter()
        .map(|name| {
            let hidden = is_hidden(name);
            // `getUser` must not call `get-user` where it may as well mean `get_user`; both keep their own names.
            let clear = |alias: &String| {
                hidden || names.binary_search(&alias.as_str()).is_ok() || !spellings.contains_key(&spelling(alias))
            };
            Paths { raw: !hidden, alias: alias(name).filter(clear) }
        })
        .collect();
    check_collisions(names, &places)?;
    Ok(places)
}

fn check(name: &str) -> Result<(), CatalogueError> {
    if name.starts_with('$') {
        return Err(CatalogueError::Reserved(name.to_owned()));
    }
    let part = |part: &str| !part.trim().is_empty() && !part.chars().any(char::is_control);
    if name.len() > MAX_NAME || !name.split('.').all(part) {
        return Err(CatalogueError::Malformed(name.chars().take(MAX_NAME).collect()));
    }
    Ok(())
}

/// Whether a tool of this name can be a global function.
pub(super) fn check_global(name: &str) -> Result<(), CatalogueError> {
    if is_identifier(name) && !means_something(name) { Ok(()) } else { Err(CatalogueError::NoGlobal(name.to_owned())) }
}

fn is_hidden(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|end| HIDDEN.contains(&end))
}

fn is_path(name: &str) -> bool {
    name.split('.').all(is_identifier)
}

/// The other path of a tool, `None` when the raw name needs none or gives none.
fn alias(name: &str) -> Option<String> {
    let last = name.split('.').count() - 1;
    let part = |(index, part): (usize, &str)| {
        // A hidden name has no other way in, so it keeps the parts that give no identifier.
        let kept = is_identifier(part) || (is_hidden(name) && camel(part).is_none());
        let part = if kept { part.to_owned() } else { camel(part)? };
        Some(if index == last && HIDDEN.contains(&part.as_str()) { format!("{part}_") } else { part })
    };
    let parts: Option<Vec<String>> = name.split('.').enumerate().map(part).collect();
    parts.map(|parts| parts.join(".")).filter(|alias| alias != name)
}

/// What two names of identifiers have in common when they differ in style only.
fn spelling(name: &str) -> String {
    let parts: Vec<String> = name.split('.').map(|part| camel(part).unwrap_or_default()).collect();
    parts.join(".")
}

/// Two tools at one path, or one at a path that is a namespace of another.
fn check_collisions(names: &[&str], places: &[Paths]) -> Result<(), CatalogueError> {
    let mut paths: Vec<(Vec<&str>, &str, &str)> = Vec::new();
    for (name, place) in names.iter().zip(places) {
        let raw = place.raw.then_some(*name);
        paths
            .extend(raw.into_iter().chain(place.alias.as_deref()).map(|path| (path.split('.').collect(), path, *name)));
    }
    // Sorted by parts, whatever begins with a path comes right behind it.
    paths.sort_unstable();
    for pair in paths.windows(2) {
        if let [(parts, path, first), (inner, _, second)] = pair
            && inner.starts_with(parts)
        {
            return Err(collision(first.min(second), first.max(second), path));
        }
    }
    Ok(())
}

fn collision(first: &str, second: &str, path: &str) -> CatalogueError {
    CatalogueError::Collision { first: first.to_owned(), second: second.to_owned(), path: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{CatalogueError, place};

    fn aliases(names: &[&str]) -> Result<Vec<String>, String> {
        let mut names = names.to_vec();
        names.sort_unstable();
        let places = place(&names).map_err(|error| error.to_string())?;
        let shown = |(name, paths): (&&str, super::Paths)| {
            let raw = if paths.raw { "" } else { "!" };
            format!("{raw}{name}={}", paths.alias.unwrap_or_default())
        };
        Ok(names.iter().zip(places).map(shown).collect())
    }

    #[test]
    fn identifiers_need_no_alias() {
        assert_eq!(
            aliases(&["delete", "budget.read", "__proto__", "constructor", "toString"]).unwrap(),
            ["__proto__=", "budget.read=", "constructor=", "delete=", "toString=",]
        );
        assert_eq!(
            aliases(&["get-user", "2fa", "größe", "a b.c-d"]).unwrap(),
            ["2fa=_2fa", "a b.c-d=aB.cD", "get-user=getUser", "größe=",]
        );
    }

    #[test]
    fn t02_an_alias_that_may_mean_another_tool_is_not_made() {
        assert_eq!(aliases(&["get-user", "get_user"]).unwrap(), ["get-user=", "get_user="]);
        assert_eq!(aliases(&["get_user", "get-user"]).unwrap(), ["get-user=", "get_user="]);
        assert_eq!(aliases(&["get-user", "GetUser"]).unwrap(), ["GetUser=", "get-user="]);
    }

    #[test]
    fn t04_a_tool_named_then_is_reached_by_another_name_only() {
        assert_eq!(
            aliases(&["then", "a.toJSON", "then.x"]).unwrap(),
            ["!a.toJSON=a.toJSON_", "!then=then_", "then.x="]
        );
        assert_eq!(aliases(&["größe.then"]).unwrap(), ["!größe.then=größe.then_"]);
        assert_eq!(aliases(&["to-jSON", "b"]).unwrap(), ["b=", "to-jSON=toJSON_"]);
        let message = "tools \"then\" and \"then_\" cannot both be reached: they meet at tools.then_";
        assert_eq!(aliases(&["then_", "then"]).unwrap_err(), message);
    }

    #[test]
    fn collisions_name_both() {
        let meets = |first, second, path| {
            Err(format!("tools {first:?} and {second:?} cannot both be reached: they meet at tools.{path}"))
        };
        assert_eq!(aliases(&["get-user", "get user"]), meets("get user", "get-user", "getUser"));
        assert_eq!(aliases(&["get-user", "getUser"]), meets("get-user", "getUser", "getUser"));
        assert_eq!(aliases(&["a.b", "a"]), meets("a", "a.b", "a"));
        assert_eq!(aliases(&["a-b", "aB.c"]), meets("a-b", "aB.c", "aB"));
        assert_eq!(aliases(&["a", "a!", "a.b"]), meets("a", "a!", "a"));
        assert_eq!(aliases(&["x", "x"]), Err("two tools are named \"x\"".to_owned()));
    }

    #[test]
    fn names_that_are_refused() {
        assert_eq!(place(&["$search"]), Err(CatalogueError::Reserved("$search".to_owned())));
        let message = place(&["$search"]).unwrap_err().to_string();
        assert_eq!(message, "tool name \"$search\" begins with \"$\", which is reserved");
        let message = place(&["a..b"]).unwrap_err().to_string();
        assert_eq!(message, "tool name \"a..b\" is not made of visible parts joined by dots, at most 256 bytes");
        let long = "a".repeat(257);
        for name in ["", ".", "a.", "a..b", "a\nb", " ", "a\u{85}", &long] {
            assert!(matches!(place(&[name]), Err(CatalogueError::Malformed(_))), "{name:?}");
        }
    }
}
