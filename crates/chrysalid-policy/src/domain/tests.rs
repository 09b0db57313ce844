//! Addresses, the plain ones and those that were made to be read in two ways.

use super::{Domains, domain_of};
use crate::truth::Truth;

#[test]
fn plain_addresses_have_a_domain() {
    let table = [
        ("ann@vendor.example", "vendor.example"),
        ("Ann.Lee+x@Vendor.EXAMPLE", "vendor.example"),
        ("o'neill@vendor.example.", "vendor.example"),
        ("https://vendor.example", "vendor.example"),
        ("HTTPS://Vendor.Example:8443/a?b=c@d#e", "vendor.example"),
        ("https://vendor.example?x", "vendor.example"),
        ("https://vendor.example#x", "vendor.example"),
        ("wss://a.b.vendor.example./", "a.b.vendor.example"),
        ("vendor.example", "vendor.example"),
        ("localhost", "localhost"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("127.0.0.1", "127.0.0.1"),
        ("http://10.0.0.255/", "10.0.0.255"),
        ("http://vendor.example/%2e%2e/a", "vendor.example"),
        ("0xvendor.example", "0xvendor.example"),
        ("1.example", "1.example"),
    ];
    for (text, domain) in table {
        assert_eq!(domain_of(text).as_deref(), Some(domain), "{text}");
    }
}

const HOSTILE: &[&str] = &[
    "",
    ".",
    "..",
    "@",
    "a@",
    "@vendor.example",
    "a@b@vendor.example",
    "a@vendor.example@evil.example",
    "a%evil.example@vendor.example",
    "evil.example!a@vendor.example",
    "evil.example/a@vendor.example",
    "evil.example?a@vendor.example",
    "evil.example#@vendor.example",
    "a@vendor.example,b@evil.example",
    "a@vendor.example;b@evil.example",
    "a@vendor.example b@evil.example",
    "a@vendor.example\nBcc: b@evil.example",
    "Ann <a@vendor.example>",
    "<a@vendor.example>",
    "\"a@evil.example\"@vendor.example",
    "a(b@evil.example)@vendor.example",
    "a@[127.0.0.1]",
    "mailto:a@vendor.example",
    "a@vendor.example?bcc=b@evil.example",
    "https://vendor.example@evil.example/",
    "https://evil.example\\@vendor.example/",
    "https://vendor.example\\.evil.example/",
    "https://user:pass@vendor.example/",
    "https://vendor.example:80@evil.example/",
    "https://vendor.example:/",
    "https://vendor.example:80:80/",
    "https://vendor.example:123456/",
    "https:/vendor.example",
    "https:vendor.example",
    "https:///vendor.example",
    "https:////vendor.example",
    "//vendor.example/",
    "/vendor.example",
    "https://",
    "://vendor.example",
    " https://vendor.example",
    "https://vendor.example ",
    "ht\ttps://vendor.example",
    "https://ven\tdor.example",
    "https://vendor.example/\r\nHost:evil.example",
    "https://%76endor.example/",
    "https://vendor%2eexample/",
    "https://vendor.example%00.evil.example/",
    "https://vendor.example\0.evil.example/",
    "javascript://vendor.example/%0aalert(1)",
    "file://vendor.example/etc/passwd",
    "view-source:https://vendor.example",
    "blob:https://vendor.example/1",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://127.0.0.01/",
    "http://127.0.0.256/",
    "http://1.2.3.4.5/",
    "http://vendor.0x/",
    "http://[::1]/",
    "http://[::ffff:127.0.0.1]/",
    "vendor.example:80",
    "vendor.example/path",
    "vendor..example",
    ".vendor.example",
    "vendor.example..",
    "-vendor.example",
    "vendor-.example",
    "ven_dor.example",
    "*.vendor.example",
    "vendor.example#",
    "vendor.example?",
    "bücher.example",
    "vendor。example",
    "vendor.example\u{200b}",
    "ⓥendor.example",
    "vendor.exampl\u{435}",
    "https://vendor.example/ä",
];

#[test]
fn what_can_be_read_in_two_ways_has_none() {
    for text in HOSTILE {
        assert_eq!(domain_of(text), None, "{text:?}");
    }
    assert_eq!(domain_of(&format!("a@{}.example", "x".repeat(64))), None);
    assert_eq!(domain_of(&format!("{}@vendor.example", "x".repeat(65))), None);
    assert_eq!(domain_of(&"x.".repeat(200)), None);
}

#[test]
fn a_star_stands_for_subdomains_only() {
    let mut domains = Domains::default();
    domains.add("Own.example.").unwrap();
    domains.add("*.vendor.example").unwrap();
    let table = [
        ("a@own.example", Truth::Yes),
        ("a@sub.own.example", Truth::No),
        ("a@vendor.example", Truth::No),
        ("a@x.vendor.example", Truth::Yes),
        ("a@x.y.vendor.example", Truth::Yes),
        ("a@evilvendor.example", Truth::No),
        ("a@vendor.example.evil.example", Truth::No),
        ("Ann <a@own.example>", Truth::Unknown),
    ];
    for (address, truth) in table {
        assert_eq!(domains.contain(address), truth, "{address}");
    }
    assert_eq!(domains.texts(), ["own.example", "*.vendor.example"]);
}

#[test]
fn wrong_domains_of_a_rule_are_told() {
    for text in ["", "*", "*.", "**.a", "a.*.b", "a@b.example", "https://b.example", "bücher.example", "1.2.3", "a b"]
    {
        assert_eq!(
            Domains::default().add(text).unwrap_err(),
            "a domain is letters, digits, hyphens and dots, with \"*.\" before it for its subdomains",
            "{text}"
        );
    }
}
