//! Values between Python and programs. What becomes what is the table in `python/chrysalid/values.py`.
//!
//! Both ways keep sharing and cycles: a list that stands twice in a value is one list on the other side. Depth is bounded by
//! the engine on the way out, and by [`MAX_DEPTH`] on the way in.

mod from_python;
mod to_python;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

pub(crate) use from_python::{of_python, of_python_named};
pub(crate) use to_python::to_python;

/// Levels of a Python value; the engine's own bound for what crosses.
const MAX_DEPTH: usize = 512;

/// Numbers up to this are whole in JavaScript.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// A value that the host keeps and the program cannot read.
#[pyclass(frozen, eq, hash, module = "chrysalid")]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Handle(pub(crate) chrysalid::Handle);

#[pymethods]
impl Handle {
    /// Which of its session, from 1.
    #[getter]
    fn id(&self) -> u32 {
        self.0.id
    }

    /// Name of the tool that the value came from.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// What `chrysalid.values` defines for values that Python has no type for.
struct Types {
    undefined: Py<PyAny>,
    big_int: Py<PyAny>,
    map: Py<PyAny>,
    js_error: Py<PyAny>,
    reg_exp: Py<PyAny>,
    description: Py<PyAny>,
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();

/// What `chrysalid.crossing` does for the rarer values: dates, arrays of numbers, and whatever the host has of its own.
struct Crossing {
    typed_array: Py<PyAny>,
    date: Py<PyAny>,
    simplify: Py<PyAny>,
}

static CROSSING: PyOnceLock<Crossing> = PyOnceLock::new();

impl Crossing {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        CROSSING.get_or_try_init(py, || {
            let module = py.import("chrysalid.crossing")?;
            let get = |name: &str| module.getattr(name).map(Bound::unbind);
            Ok(Self { typed_array: get("typed_array")?, date: get("date_of")?, simplify: get("simplify")? })
        })
    }
}

impl Types {
    fn get(py: Python<'_>) -> PyResult<&Self> {
        TYPES.get_or_try_init(py, || {
            let module = py.import("chrysalid.values")?;
            let get = |name: &str| module.getattr(name).map(Bound::unbind);
            Ok(Self {
                undefined: get("UNDEFINED")?,
                big_int: get("BigInt")?,
                map: get("Map")?,
                js_error: get("JSError")?,
                reg_exp: get("RegExp")?,
                description: get("Description")?,
            })
        })
    }
}
