//! The native half of the Python package `chrysalid`: engine, sessions, values and errors as Python classes.
//!
//! Nothing here runs a tool or waits: the drivers are Python (`python/chrysalid/driver.py`), on the caller's own thread or
//! event loop, over [`session::Session::step`] and `settle`. While the guest runs, the GIL is released.

mod call;
mod engine;
mod error;
mod event;
mod gate;
mod limits;
mod outcome;
mod policy;
mod session;
mod tool;
mod value;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The guest compiled for every machine of this architecture, for the file that a wheel carries.
#[pyfunction]
fn precompile(py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
    let compiled = py.detach(|| chrysalid::Engine::builder().precompile());
    compiled.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| error::raise(py, &error))
}

/// The module `chrysalid._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    error::add_to(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<call::Call>()?;
    module.add_class::<call::CallRecord>()?;
    module.add_class::<call::PendingCall>()?;
    module.add_class::<engine::Engine>()?;
    module.add_class::<engine::Inspection>()?;
    module.add_class::<limits::Limits>()?;
    module.add_class::<outcome::LogLine>()?;
    module.add_class::<outcome::Outcome>()?;
    module.add_class::<outcome::ProgramError>()?;
    module.add_class::<outcome::Step>()?;
    module.add_class::<policy::Key>()?;
    module.add_class::<policy::Policy>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<tool::Capability>()?;
    module.add_class::<tool::Toolset>()?;
    module.add_class::<value::Handle>()?;
    module.add_function(wrap_pyfunction!(precompile, module)?)?;
    Ok(())
}
