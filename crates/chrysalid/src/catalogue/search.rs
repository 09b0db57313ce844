//! Finding tools by words of their names and descriptions. The ranking is a function of the texts alone.

use std::collections::BTreeSet;

use super::{comment, names};

/// Tools that a search gives when its caller does not say how many, and at most.
pub(crate) const DEFAULT_LIMIT: usize = 5;
pub(super) const MAX_LIMIT: usize = 20;
/// Words of a query and of a description that are looked at.
const MAX_QUERY: usize = 16;
const MAX_QUERY_CHARACTERS: usize = 400;

/// The words of one tool.
#[derive(Debug)]
pub(super) struct Words {
    name: Vec<String>,
    description: BTreeSet<String>,
}

impl Words {
    pub(super) fn of(name: &str, description: &str) -> Self {
        let lines = comment::lines(description);
        let description = lines.iter().flat_map(|line| names::words(line)).collect();
        Self { name: names::words(name), description }
    }

    /// How well the words of a query fit; 0 for not at all.
    pub(super) fn score(&self, query: &[String]) -> usize {
        query.iter().map(|word| self.word(word)).sum()
    }

    fn word(&self, word: &str) -> usize {
        let name = self.name.iter().map(|other| likeness(word, other) * 3).max().unwrap_or(0);
        let description = self.description.iter().map(|other| likeness(word, other)).max().unwrap_or(0);
        name + description
    }
}

/// The words of a query, each once.
pub(super) fn query_words(query: &str) -> Vec<String> {
    let head: String = query.chars().take(MAX_QUERY_CHARACTERS).collect();
    let mut words = names::words(&head);
    let mut seen = BTreeSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words.truncate(MAX_QUERY);
    words
}

/// 4 for the same word, 3 for another form of it (`invoices`), 1 for a part.
fn likeness(word: &str, other: &str) -> usize {
    let (short, long) = if word.len() <= other.len() { (word, other) } else { (other, word) };
    if word == other {
        4
    } else if short.len() >= 3 && long.starts_with(short) {
        3
    } else {
        usize::from(word.len() >= 3 && other.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::{Words, query_words};

    #[test]
    fn a_name_counts_more_than_a_description() {
        let query = query_words("Invoice");
        let score = |name, description| Words::of(name, description).score(&query);
        assert_eq!(score("find_invoice", ""), 12);
        assert_eq!(score("findInvoices", "Finds invoices."), 12);
        assert_eq!(score("pay", "Pays an invoice."), 4);
        assert_eq!(score("reinvoice", ""), 3);
        assert_eq!(score("pay", "Pays."), 0);
    }

    #[test]
    fn a_query_is_bounded() {
        assert_eq!(query_words("a b a"), ["a", "b"]);
        assert_eq!(query_words(&"ab1 ".repeat(1_000)), ["ab1"]);
        let many: Vec<String> = (0..1_000).map(|n| format!("w{n}")).collect();
        assert_eq!(query_words(&many.join(" ")).len(), 16);
    }
}
