//! Python's exceptions: one class for each kind of [`chrysalid::Error`], made from the table of kinds.

use std::collections::HashMap;
use std::ffi::CString;

use chrysalid::{Error, ErrorKind};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

struct Classes {
    base: Py<PyType>,
    by_code: HashMap<&'static str, Py<PyType>>,
}

/// The classes, `ChrysalidError` and one below it a kind, each with the kind's `code`.
pub(crate) fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let classes = CLASSES.get_or_try_init(module.py(), || Classes::new(module.py()))?;
    module.add("ChrysalidError", &classes.base)?;
    for class in classes.by_code.values() {
        module.add(class.bind(module.py()).name()?, class)?;
    }
    Ok(())
}

impl Classes {
    fn new(py: Python<'_>) -> PyResult<Self> {
        let doc = c"An error of the host: `code` says which, in a stable form. How a program failed is no exception.";
        let base = PyErr::new_type(py, c"chrysalid.ChrysalidError", Some(doc), None, None)?;
        base.bind(py).setattr("code", "error")?;
        let mut by_code = HashMap::new();
        for kind in ErrorKind::ALL {
            let name = CString::new(format!("chrysalid.{}", class_name(*kind)))?;
            let doc = CString::new(format!("An error with the code `{}`.", kind.code()))?;
            let class = PyErr::new_type(py, &name, Some(&doc), Some(base.bind(py)), None)?;
            class.bind(py).setattr("code", kind.code())?;
            by_code.insert(kind.code(), class);
        }
        Ok(Self { base, by_code })
    }
}

/// The name of the kind; with `Error` where a bare word would be taken for something else. None is one of Python's own names.
fn class_name(kind: ErrorKind) -> String {
    match kind {
        ErrorKind::Value => "ValueRefused".to_owned(),
        ErrorKind::Config | ErrorKind::Capability | ErrorKind::Guest | ErrorKind::Io | ErrorKind::Internal => {
            format!("{kind:?}Error")
        }
        kind => format!("{kind:?}"),
    }
}

/// The exception for an error of the engine.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let classes = CLASSES.get(py);
    match classes.and_then(|classes| classes.by_code.get(error.code())) {
        Some(class) => PyErr::from_type(class.bind(py).clone(), error.to_string()),
        None => PyException::new_err(error.to_string()),
    }
}

/// The exception for a kind with a message.
pub(crate) fn raise_kind(py: Python<'_>, kind: ErrorKind, message: impl Into<String>) -> PyErr {
    raise(py, &Error::new(kind, message))
}
