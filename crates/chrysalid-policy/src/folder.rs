//! Folders, and whether a path is under one.
//!
//! Paths are text here: no file is looked at, and where links lead is not known.

use crate::truth::Truth;

/// A folder, as an absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Folder(String);

impl Folder {
    /// Reads the folder of a rule; a slash at its end is dropped.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let folder = parts(text).ok_or(
            "a folder is an absolute path such as \"/srv/data\", without \"..\", \".\", empty parts or backslashes",
        )?;
        Ok(Self(folder.join("/")))
    }

    /// Whether a path is under the folder. Of the folder itself it cannot be told: to read it is one thing, to remove
    /// it another.
    pub(crate) fn holds(&self, path: &str) -> Truth {
        let Some(path) = parts(path) else {
            return Truth::Unknown;
        };
        let mut path = path.into_iter();
        if !self.0.is_empty() && !self.0.split('/').all(|part| path.next() == Some(part)) {
            return Truth::No;
        }
        if path.next().is_some() { Truth::Yes } else { Truth::Unknown }
    }
}

impl std::fmt::Display for Folder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "/{}", self.0)
    }
}

/// The parts of an absolute path that can be read in one way only.
fn parts(path: &str) -> Option<Vec<&str>> {
    let inner = path.strip_prefix('/')?;
    if inner.is_empty() {
        return Some(Vec::new());
    }
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(|c: char| c == '\\' || c.is_control());
    inner.split('/').map(|part| is_plain(part).then_some(part)).collect()
}

#[cfg(test)]
mod tests {
    use super::Folder;
    use crate::truth::Truth::{self, No, Unknown, Yes};

    #[test]
    fn paths_are_under_a_folder() {
        let folder = Folder::parse("/srv/data/").unwrap();
        let table: [(&str, Truth); 25] = [
            ("/srv/data/a", Yes),
            ("/srv/data/a/b.txt", Yes),
            ("/srv/data/a/", Yes),
            ("/srv/data/...", Yes),
            ("/srv/data/ä b", Yes),
            ("/srv/data", Unknown),
            ("/srv/data/", Unknown),
            ("/srv/database", No),
            ("/srv", No),
            ("/", No),
            ("/SRV/data/a", No),
            ("/etc/passwd", No),
            ("", Unknown),
            ("srv/data/a", Unknown),
            ("./srv/data/a", Unknown),
            ("~/a", Unknown),
            ("C:\\srv\\data", Unknown),
            ("/srv/data/../../etc/passwd", Unknown),
            ("/srv/data/..", Unknown),
            ("/srv/data/./a", Unknown),
            ("/srv//data/a", Unknown),
            ("//srv/data/a", Unknown),
            ("/srv/data/a//", Unknown),
            ("/srv/data/a\0.txt", Unknown),
            ("/srv/data/..\\..\\etc", Unknown),
        ];
        for (path, truth) in table {
            assert_eq!(folder.holds(path), truth, "{path:?}");
        }
        assert_eq!(folder.to_string(), "/srv/data");
    }

    #[test]
    fn everything_is_under_the_root() {
        let root = Folder::parse("/").unwrap();
        assert_eq!(root.to_string(), "/");
        assert_eq!(root.holds("/a"), Yes);
        assert_eq!(root.holds("/"), Unknown);
        assert_eq!(root.holds("a"), Unknown);
    }

    #[test]
    fn wrong_folders_are_told() {
        for text in ["", "srv", "./srv", "/srv/../etc", "/srv//x", "/srv\\x", "C:\\x", "//"] {
            assert_eq!(
                Folder::parse(text).unwrap_err(),
                "a folder is an absolute path such as \"/srv/data\", without \"..\", \".\", empty parts or backslashes",
                "{text}"
            );
        }
    }
}
