//! Which member of an expression failed. The engine places a call at the dot before the member's name, and a read of a
//! missing value's property at the beginning of the whole expression; whoever mends the program looks for the name.

use super::name::is_name_character;
use super::place::Place;

/// Bytes of source that are searched for the name.
const REACH: usize = 2000;

/// The place that a failure with this message is shown at, for the place that the engine gives.
pub(crate) fn of_failure(source: &str, place: Place, message: &str) -> Place {
    let Some(offset) = place.offset_in(source) else { return place };
    let rest = source.get(offset..).unwrap_or_default();
    let found = match property_of(message) {
        Some(name) => member_in(rest, name),
        None => after_dot(rest),
    };
    found.map_or(place, |skipped| Place::of_offset(source, offset + skipped))
}

/// The property that could not be read, or set.
fn property_of(message: &str) -> Option<&str> {
    let rest =
        ["cannot read property '", "cannot set property '"].iter().find_map(|head| message.strip_prefix(head))?;
    let (name, _) = rest.rsplit_once("' of ")?;
    (!name.is_empty()).then_some(name)
}

/// Where the name of the member stands if the text begins with its dot.
fn after_dot(rest: &str) -> Option<usize> {
    let name = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.'))?.trim_start();
    name.starts_with(is_name).then(|| rest.len() - name.len())
}

/// Where `.name`, `["name"]` or the like first stands.
fn member_in(rest: &str, name: &str) -> Option<usize> {
    let reach = rest.get(..rest.floor_char_boundary(REACH))?;
    reach.match_indices(name).map(|(at, _)| at).find(|at| {
        let (before, after) = (reach.get(..*at).unwrap_or_default(), reach.get(at + name.len()..).unwrap_or_default());
        let named = before.trim_end().ends_with('.') && !after.starts_with(is_name);
        let quoted = ["['", "[\"", "[`"].iter().any(|open| before.ends_with(open));
        let indexed = before.ends_with('[') && after.starts_with(']');
        named || quoted || indexed
    })
}

/// Private names begin with `#`.
fn is_name(character: char) -> bool {
    is_name_character(character) || character == '#'
}

#[cfg(test)]
mod tests {
    use super::{Place, of_failure};

    fn column(source: &str, column: u32, message: &str) -> u32 {
        of_failure(source, Place { line: 1, column }, message).column
    }

    #[test]
    fn the_member_that_failed_is_found() {
        for (source, from, message, at) in [
            ("null.f();", 1, "cannot read property 'f' of null", 6),
            ("r.n.toFixed(1)", 1, "cannot read property 'toFixed' of undefined", 5),
            ("ff.f.f", 1, "cannot read property 'f' of undefined", 4),
            ("a['b-c'].d", 1, "cannot read property 'b-c' of undefined", 4),
            ("a?.b\u{20}.c", 1, "cannot read property 'c' of undefined", 7),
            ("xs[0].y", 1, "cannot read property '0' of undefined", 4),
            ("a.b = 1", 1, "cannot set property 'b' of undefined", 3),
            ("é.f()", 1, "cannot read property 'f' of undefined", 3),
            ("tools.serch({})", 6, "not a function", 7),
            ("tools\u{20}?. serch({})", 7, "not a function", 10),
            // Where it is not found, the engine's place stands.
            ("const { b } = a;", 15, "cannot read property 'b' of undefined", 15),
            ("f()", 1, "not a function", 1),
            ("...xs", 1, "not iterable", 1),
            ("x.y", 9, "not a function", 9),
        ] {
            assert_eq!(column(source, from, message), at, "{source}");
        }
    }
}
