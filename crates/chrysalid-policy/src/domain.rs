//! The domain of a mail address, a URL or a bare host name, read strictly.
//!
//! A tool may read an address in another way than we do. So whatever two readers could read in two ways is not read
//! at all: there is no domain then, and a rule cannot tell. Only ASCII is read.

use std::collections::BTreeSet;

use crate::truth::Truth;

/// Schemes whose URLs are read. Others may mean anything by what stands where the host is.
const SCHEMES: [&str; 4] = ["http", "https", "ws", "wss"];

/// The domain, in lower case and without a dot at its end.
pub(crate) fn domain_of(text: &str) -> Option<String> {
    // Beyond these are spaces, controls and what is not ASCII.
    if !text.bytes().all(|byte| (0x21..=0x7e).contains(&byte) && !b"\\,;\"<>".contains(&byte)) {
        return None;
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        return SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()).then(|| domain_of_authority(rest))?;
    }
    match text.split_once('@') {
        Some((local, host)) => is_plain_local_part(local).then(|| host_name(host))?,
        None => host_name(text),
    }
}

fn domain_of_authority(rest: &str) -> Option<String> {
    let authority = rest.split(['/', '?', '#']).next()?;
    // User information has an "@", which no host name has.
    match authority.split_once(':') {
        None => host_name(authority),
        Some((host, port)) => {
            let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
            is_port.then(|| host_name(host))?
        }
    }
}

/// "%" and "!" can name a further host in old mail systems; before "/", "?" or "#" stands the host of a URL whose scheme was
/// left out.
fn is_plain_local_part(local: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-'=~&$*^`{|}".contains(&byte);
    (1..=64).contains(&local.len()) && local.bytes().all(is_plain)
}

/// A host name of letters, digits and hyphens, or an IPv4 address as four decimal numbers.
fn host_name(text: &str) -> Option<String> {
    let host = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let labels: Vec<&str> = host.split('.').collect();
    if host.len() > 253 || !labels.iter().all(|label| is_label(label)) {
        return None;
    }
    let last = labels.last()?;
    // Where the last part is a number, readers of URLs take the whole for an address, however it is written.
    if is_number(last) && !is_address(&labels) {
        return None;
    }
    Some(host)
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn is_number(label: &str) -> bool {
    match label.strip_prefix("0x") {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

fn is_address(labels: &[&str]) -> bool {
    let is_byte = |label: &&str| label.parse::<u8>().is_ok_and(|value| value.to_string() == **label);
    labels.len() == 4 && labels.iter().all(is_byte)
}

/// Domains of a rule: `vendor.example` is itself only, `*.vendor.example` its subdomains, however deep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Domains {
    exact: BTreeSet<String>,
    parents: BTreeSet<String>,
}

impl Domains {
    /// Adds one. The error says what is wrong with it.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), String> {
        let (set, host) = match text.strip_prefix("*.") {
            Some(parent) => (&mut self.parents, parent),
            None => (&mut self.exact, text),
        };
        let host = host_name(host)
            .ok_or("a domain is letters, digits, hyphens and dots, with \"*.\" before it for its subdomains")?;
        set.insert(host);
        Ok(())
    }

    /// Whether the domain of an address is one of these.
    pub(crate) fn contain(&self, address: &str) -> Truth {
        let Some(host) = domain_of(address) else {
            return Truth::Unknown;
        };
        let mut parents = std::iter::successors(host.split_once('.'), |(_, rest)| rest.split_once('.'));
        let is_below = parents.any(|(_, parent)| self.parents.contains(parent));
        Truth::from(self.exact.contains(&host) || is_below)
    }

    /// The domains as they are written.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.exact.iter().cloned().chain(self.parents.iter().map(|parent| format!("*.{parent}"))).collect()
    }
}

#[cfg(test)]
mod tests;
