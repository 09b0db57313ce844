//! Modules that programs may import: what the host supplies, by key.
//!
//! A key is what stands in the `import`, with relative names joined to the folder of the module that asks: `./b.js` in
//! `lib/a.js` is `lib/b.js`, and in a program it is `b.js`. Sources are JavaScript or TypeScript modules. A module is
//! loaded once a session and travels in its heap, also through snapshots; it runs with the program's own rights.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use crate::call::ToolError;
use crate::capability::{Handler, erase_raw};
use crate::value::Value;

/// Where the modules of a session come from. Cheap to clone; none by default.
///
/// ```
/// use chrysalid::Modules;
///
/// let fixed = Modules::fixed([("stats.js", "export const mean = xs => xs.reduce((a, b) => a + b, 0) / xs.length;")]);
/// assert_eq!(fixed.names(), ["stats.js"]);
/// let looked_up = Modules::resolver(["prices"], |key| async move {
///     Ok((key == "prices").then(|| "export default { tea: 4 }".to_owned()))
/// });
/// assert_eq!(looked_up.names(), ["prices"]);
/// ```
#[derive(Clone, Default)]
pub struct Modules(Option<Arc<Inner>>);

struct Inner {
    names: Vec<String>,
    handler: Arc<dyn Handler>,
}

impl Modules {
    /// No modules: every import is refused.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// These modules, as pairs of key and source.
    pub fn fixed<K: Into<String>, S: Into<String>>(modules: impl IntoIterator<Item = (K, S)>) -> Self {
        let sources: std::collections::BTreeMap<String, String> =
            modules.into_iter().map(|(key, source)| (key.into(), source.into())).collect();
        let names: Vec<String> = sources.keys().cloned().collect();
        Self::resolver(names, move |key| std::future::ready(Ok(sources.get(&key).cloned())))
    }

    /// Modules that a function finds: for a key its source, `None` if there is no such module, or what went wrong, in
    /// words that the program may see. `names` is what a refusal and the description for models list; it need not be
    /// complete. The function is called once a session and key, and again where a paused session was stored meanwhile.
    pub fn resolver<N, F, Fut>(names: impl IntoIterator<Item = N>, resolve: F) -> Self
    where
        N: Into<String>,
        F: Fn(String) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<String>, String>> + Send + 'static,
    {
        let handler = erase_raw(move |_, argument: Value| {
            let key = argument.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
            let found = resolve(key);
            async move { found.await.map(|source| source.map_or(Value::Undefined, Value::from)).map_err(ToolError::new) }
        });
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        names.sort_unstable();
        names.dedup();
        Self(Some(Arc::new(Inner { names, handler })))
    }

    /// The keys that are listed, sorted.
    #[must_use]
    pub fn names(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |inner| &inner.names)
    }

    pub(crate) fn handler(&self) -> Option<&Arc<dyn Handler>> {
        self.0.as_ref().map(|inner| &inner.handler)
    }
}

impl fmt::Debug for Modules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Modules").field("names", &self.names()).finish_non_exhaustive()
    }
}

/// The key of what `specifier` means in the module `from`; as the guest joins them.
pub(crate) fn key_of(from: &str, specifier: &str) -> String {
    let relative = ["./", "../"].iter().any(|start| specifier.starts_with(start)) || matches!(specifier, "." | "..");
    if !relative {
        return specifier.to_owned();
    }
    let mut key = from.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    for segment in specifier.split('/') {
        let last = key.rsplit('/').next().unwrap_or_default();
        match segment {
            "" | "." => {}
            ".." if !key.is_empty() && last != ".." => key.truncate(key.rfind('/').unwrap_or(0)),
            segment => {
                if !key.is_empty() {
                    key.push('/');
                }
                key.push_str(segment);
            }
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::key_of;

    #[test]
    fn relative_names_are_joined_to_the_folder_of_who_asks() {
        for (from, specifier, key) in [
            ("", "stats", "stats"),
            ("", "./stats.js", "stats.js"),
            ("lib/a.js", "./b.js", "lib/b.js"),
            ("lib/a.js", "../b.js", "b.js"),
            ("lib/x/a.js", "./../y/./b.js", "lib/y/b.js"),
            ("a.js", "../b.js", "../b.js"),
            ("a.js", "../../b.js", "../../b.js"),
            ("lib/a.js", "stats", "stats"),
            ("lib/a.js", ".hidden", ".hidden"),
            ("lib/a.js", "..", ""),
            ("https://x.test/lib/a.js", "./b.js", "https://x.test/lib/b.js"),
            ("https://x.test/lib/a.js", "../b.js", "https://x.test/b.js"),
            ("/abs/a.js", "./b.js", "/abs/b.js"),
            ("a//b.js", "./c.js", "a//c.js"),
            ("../a.js", "../b.js", "../../b.js"),
            ("/a.js", "../b.js", "../b.js"),
        ] {
            assert_eq!(key_of(from, specifier), key, "{specifier} in {from}");
        }
    }
}
