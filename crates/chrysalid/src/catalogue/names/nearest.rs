//! Which known name was meant: other spellings of the same words, slips of the keyboard, short forms.

use super::words;

/// Letters of a name that are compared.
const MAX_LETTERS: usize = 64;

/// The known name that was most likely meant, `None` when none is near.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    near(word, candidates, 1).into_iter().next()
}

/// The known names that may have been meant, best first; equally near ones by name.
pub(in crate::catalogue) fn near<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let word = Spelling::of(word);
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| Some((word.distance(&Spelling::of(candidate))?, candidate)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(limit).map(|(_, name)| name).collect()
}

struct Spelling {
    words: Vec<String>,
    letters: Vec<char>,
}

impl Spelling {
    fn of(name: &str) -> Self {
        // A name that is longer than what is compared is not split in full either.
        let head: String = name.chars().take(MAX_LETTERS * 2).collect();
        let words = words(&head);
        let letters = words.iter().flat_map(|word| word.chars()).take(MAX_LETTERS).collect();
        Self { words, letters }
    }

    /// Less is nearer: the same letters, then slips, short forms (`amt`, `qty`), and names with the same words.
    fn distance(&self, other: &Self) -> Option<usize> {
        let (a, b) = (&self.letters, &other.letters);
        if a.is_empty() || b.is_empty() {
            return None;
        }
        if a == b {
            return Some(0);
        }
        let slips = (a.len().max(b.len()) / 3).min(4);
        let gap = a.len().abs_diff(b.len());
        if gap <= slips {
            let edits = edits(a, b);
            if edits <= slips {
                return Some(edits * 10);
            }
        }
        if is_short_form(a, b) || is_short_form(b, a) {
            return Some(50 + gap);
        }
        let (few, many) = if self.words.len() <= other.words.len() { (self, other) } else { (other, self) };
        if many.words.ends_with(&few.words) {
            return Some(100 + gap);
        }
        few.words.iter().all(|word| many.words.contains(word)).then_some(200 + gap)
    }
}

/// Whether all letters stand in the long name in this order, from its first letter on.
fn is_short_form(short: &[char], long: &[char]) -> bool {
    let mut rest = long.iter();
    short.len() >= 2
        && short.len() * 3 >= long.len()
        && short.first() == long.first()
        && short.iter().all(|letter| rest.any(|other| other == letter))
}

/// Letters put in, left out, changed, or swapped with their neighbour.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut last_a = None;
    for (row, letter) in a.iter().enumerate() {
        let mut current = Vec::with_capacity(b.len() + 1);
        let mut left = row + 1;
        current.push(left);
        let mut last_b = None;
        for (column, other) in b.iter().enumerate() {
            let at = |line: &[usize], column: usize| line.get(column).copied().unwrap_or(usize::MAX / 2);
            let mut cost =
                (at(&above, column) + usize::from(letter != other)).min(at(&above, column + 1) + 1).min(left + 1);
            if last_b == Some(letter) && last_a == Some(other) && letter != other {
                let swapped = column.checked_sub(1).map_or(usize::MAX / 2, |column| at(&before, column) + 1);
                cost = cost.min(swapped);
            }
            current.push(cost);
            left = cost;
            last_b = Some(other);
        }
        before = std::mem::replace(&mut above, current);
        last_a = Some(letter);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{edits, near, nearest};

    #[test]
    fn t18_other_spellings_and_slips() {
        let tools = ["searchDocs", "searchWeb", "pay"];
        for name in ["search_docs", "searchDoc", "SearchDocs", "serachDocs"] {
            assert_eq!(nearest(name, tools), Some("searchDocs"), "{name}");
        }
        assert_eq!(nearest("serchWeb", tools), Some("searchWeb"));
        assert_eq!(nearest("deleteEverything", tools), None);
    }

    #[test]
    fn short_forms() {
        assert_eq!(nearest("amt", ["amount", "name"]), Some("amount"));
        assert_eq!(nearest("qty", ["quantity"]), Some("quantity"));
        assert_eq!(nearest("limt", ["list", "limit"]), Some("limit"));
        assert_eq!(nearest("q", ["n", "query"]), None);
        assert_eq!(nearest("x", []), None);
        assert_eq!(nearest("", ["a"]), None);
    }

    #[test]
    fn best_first_and_then_by_name() {
        assert_eq!(
            near("getUser", ["get_users", "getUser2", "get-user", "budget"], 3),
            ["get-user", "getUser2", "get_users"]
        );
        assert_eq!(near("read", ["budget.read", "bread"], 3), ["bread", "budget.read"]);
    }

    #[test]
    fn a_swap_is_one_edit() {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(edits(&letters("abcd"), &letters("acbd")), 1);
        assert_eq!(edits(&letters("kitten"), &letters("sitting")), 3);
        assert_eq!(edits(&letters(""), &letters("ab")), 2);
    }
}
