//! Rules and keys.

use chrysalid::{ErrorKind, RuleOfTwo, Rules};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::error::raise_kind;

/// What is allowed, asked about and denied: rules in TOML with their examples, and the rule of two.
#[pyclass(frozen, module = "chrysalid")]
pub(crate) struct Policy {
    pub(crate) rules: Rules,
}

#[pymethods]
impl Policy {
    /// Reads rules. A fault in them is a `ValueError` that names line and column.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        let rules = Rules::parse(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { rules })
    }

    /// Reads rules from a file.
    #[staticmethod]
    #[expect(clippy::needless_pass_by_value, reason = "what Python's paths become")]
    fn load(path: std::path::PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| PyOSError::new_err(format!("cannot read policy {}: {error}", path.display())))?;
        let rules =
            Rules::parse(&text).map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))?;
        Ok(Self { rules })
    }

    /// No rules but the rule of two: `on`, `strict` or `off`.
    #[staticmethod]
    fn rule_of_two(mode: &str) -> PyResult<Self> {
        Ok(Self { rules: Rules::with_rule_of_two(rule_of_two(mode)?) })
    }

    /// Names these rules in records, so that a change of them shows.
    #[getter]
    fn version(&self) -> &str {
        self.rules.version()
    }

    fn __repr__(&self) -> String {
        format!("Policy({} rules, version {:?})", self.rules.len(), self.rules.version())
    }
}

fn rule_of_two(mode: &str) -> PyResult<RuleOfTwo> {
    match mode {
        "on" => Ok(RuleOfTwo::On),
        "strict" => Ok(RuleOfTwo::Strict),
        "off" => Ok(RuleOfTwo::Off),
        other => Err(PyValueError::new_err(format!("rule of two is \"on\", \"strict\" or \"off\", not {other:?}"))),
    }
}

/// A key that seals snapshots: 32 random bytes.
#[pyclass(frozen, module = "chrysalid")]
pub(crate) struct Key {
    pub(crate) key: chrysalid::Key,
}

#[pymethods]
impl Key {
    /// A new key from the system's randomness.
    #[staticmethod]
    fn generate(py: Python<'_>) -> PyResult<Self> {
        let key = chrysalid::Key::generate().map_err(|error| raise_kind(py, ErrorKind::NoKey, error.to_string()))?;
        Ok(Self { key })
    }

    /// The key of 64 hexadecimal characters, or of base64 of 32 bytes.
    #[staticmethod]
    fn from_text(text: &str) -> PyResult<Self> {
        let key = chrysalid::Key::from_text(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { key })
    }

    /// The key of 32 bytes, which must be random, not derived from a passphrase.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        let bytes = <[u8; 32]>::try_from(data)
            .map_err(|_| PyValueError::new_err(format!("a key has 32 bytes, not {}", data.len())))?;
        Ok(Self { key: chrysalid::Key::from_bytes(bytes) })
    }

    /// Its public name, in hexadecimal.
    #[getter]
    fn id(&self) -> String {
        self.key.id().to_string()
    }

    /// The key as 64 hexadecimal characters: a secret.
    fn to_text(&self) -> String {
        self.key.to_text()
    }

    fn __repr__(&self) -> String {
        format!("Key({})", self.key.id())
    }
}
