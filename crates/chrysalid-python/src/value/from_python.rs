//! From Python to a program.

use std::collections::HashMap;

use chrysalid::{BigInt, ErrorValue, Object, RegExp, TypedArray, TypedArrayKind, Value};
use pyo3::exceptions::{PyBaseException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};

use super::{Handle, MAX_DEPTH, SAFE_INTEGER, Types};

/// The value of a Python object.
pub(crate) fn of_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    of_python_named(object, "value")
}

/// The same; errors speak of the object by this name.
pub(crate) fn of_python_named(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
    let py = object.py();
    let mut writer = Writer { py, types: Types::get(py)?, seen: HashMap::new(), count: 0, kept: Vec::new(), depth: 0 };
    writer.value(object).map_err(|refusal| refusal.raise(py, name))
}

/// Why an object does not cross, and where it stands: the innermost step first.
struct Refusal {
    error: PyErr,
    /// Whether the message is ours, to be given a place.
    ours: bool,
    path: String,
}

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self { error, ours: false, path: String::new() }
    }
}

impl Refusal {
    fn of(error: PyErr) -> Self {
        Self { error, ours: true, path: String::new() }
    }

    fn within(mut self, step: &str) -> Self {
        self.path.insert_str(0, step);
        self
    }

    fn raise(self, py: Python<'_>, name: &str) -> PyErr {
        if !self.ours {
            return self.error;
        }
        let text = format!("{name}{}: {}", self.path, self.error.value(py));
        PyErr::from_type(self.error.get_type(py), text)
    }
}

type Written = Result<Value, Refusal>;

struct Writer<'py> {
    py: Python<'py>,
    types: &'py Types,
    /// Containers that can be changed, by identity: their number among the objects of the tree.
    seen: HashMap<*mut pyo3::ffi::PyObject, u32>,
    count: u32,
    /// Objects made on the way, so that no identity is used twice.
    kept: Vec<Bound<'py, PyAny>>,
    depth: usize,
}

impl<'py> Writer<'py> {
    fn value(&mut self, object: &Bound<'py, PyAny>) -> Written {
        if self.depth >= MAX_DEPTH {
            return Err(Refusal::of(PyValueError::new_err(format!("is nested deeper than {MAX_DEPTH} levels"))));
        }
        self.depth += 1;
        let written = self.shallow(object);
        self.depth -= 1;
        written
    }

    fn shallow(&mut self, object: &Bound<'py, PyAny>) -> Written {
        if object.is_none() {
            Ok(Value::Null)
        } else if let Ok(truth) = object.cast::<PyBool>() {
            Ok(Value::Bool(truth.is_true()))
        } else if let Ok(text) = object.cast::<PyString>() {
            self.text(text)
        } else if object.is_instance_of::<PyInt>() {
            self.integer(object)
        } else if let Ok(number) = object.cast::<PyFloat>() {
            Ok(Value::Number(number.value()))
        } else if let Ok(dict) = object.cast::<PyDict>() {
            self.once(object, |writer| writer.dict(dict))
        } else if let Ok(list) = object.cast::<PyList>() {
            self.once(object, |writer| writer.items(list.iter()).map(Value::Array))
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            self.count += 1;
            self.items(tuple.iter()).map(Value::Array)
        } else {
            self.rarer(object)
        }
    }

    fn rarer(&mut self, object: &Bound<'py, PyAny>) -> Written {
        if object.is(self.types.undefined.bind(self.py)) {
            Ok(Value::Undefined)
        } else if let Ok(bytes) = object.cast::<PyBytes>() {
            self.count += 1;
            Ok(Value::TypedArray(TypedArray::uint8(bytes.as_bytes().to_vec())))
        } else if let Ok(bytes) = object.cast::<PyByteArray>() {
            let bytes = bytes.to_vec();
            self.once(object, |_| Ok(Value::TypedArray(TypedArray::uint8(bytes))))
        } else if let Ok(set) = object.cast::<PySet>() {
            self.once(object, |writer| writer.items(set.iter()).map(Value::Set))
        } else if let Ok(set) = object.cast::<PyFrozenSet>() {
            self.count += 1;
            self.items(set.iter()).map(Value::Set)
        } else if let Ok(handle) = object.cast::<Handle>() {
            Ok(Value::Handle(handle.get().0.clone()))
        } else if object.is_instance(self.types.map.bind(self.py))? {
            self.once(object, |writer| writer.pairs(&object.getattr("pairs")?))
        } else if object.is_instance(self.types.reg_exp.bind(self.py))? {
            self.count += 1;
            let (source, flags) = (object.getattr("source")?.extract()?, object.getattr("flags")?.extract()?);
            Ok(Value::RegExp(Box::new(RegExp { source, flags })))
        } else if object.is_instance_of::<PyBaseException>() {
            self.once(object, |writer| writer.exception(object))
        } else {
            self.simplified(object)
        }
    }

    fn text(&self, text: &Bound<'py, PyString>) -> Written {
        match text.to_str() {
            Ok(text) => Ok(Value::String(text.to_owned())),
            // Lone surrogates, which Python can hold, become U+FFFD as everywhere.
            Err(_) => Ok(Value::String(text.to_string_lossy().into_owned())),
        }
    }

    fn integer(&self, object: &Bound<'py, PyAny>) -> Written {
        let is_big = object.is_instance(self.types.big_int.bind(self.py))?;
        if !is_big && let Ok(number) = object.extract::<i64>() {
            #[expect(clippy::cast_precision_loss, reason = "compared with what is exact")]
            let float = number as f64;
            if float.abs() <= SAFE_INTEGER {
                return Ok(Value::Number(float));
            }
        }
        let text: String = self.py.get_type::<PyInt>().call_method1("__format__", (object, "x"))?.extract()?;
        let (negative, digits) = text.strip_prefix('-').map_or((false, text.as_str()), |digits| (true, digits));
        let number = BigInt::from_hex(negative, digits.as_bytes());
        number.map(Value::BigInt).ok_or_else(|| Refusal::of(PyValueError::new_err("is no whole number")))
    }

    /// A container: itself where it stands first, and a reference to that place elsewhere.
    fn once(&mut self, object: &Bound<'py, PyAny>, write: impl FnOnce(&mut Self) -> Written) -> Written {
        if let Some(number) = self.seen.get(&object.as_ptr()) {
            return Ok(Value::Ref(*number));
        }
        self.seen.insert(object.as_ptr(), self.count);
        self.count += 1;
        write(self)
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>) -> Written {
        if dict.keys().iter().any(|key| !key.is_instance_of::<PyString>()) {
            return self.pairs(dict.items().as_any());
        }
        let mut entries = Vec::with_capacity(dict.len());
        for (key, value) in dict.iter() {
            let key = key.cast::<PyString>().map_err(PyErr::from)?.to_string_lossy().into_owned();
            let value = self.value(&value).map_err(|refusal| refusal.within(&format!(".{key}")))?;
            entries.push((key, value));
        }
        Ok(Value::Object(entries.into_iter().collect::<Object>()))
    }

    fn pairs(&mut self, pairs: &Bound<'py, PyAny>) -> Written {
        let mut written = Vec::new();
        for pair in pairs.try_iter()? {
            let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = pair?.extract()?;
            let step = format!("[{}]", key.repr()?);
            let key = self.value(&key).map_err(|refusal| refusal.within(&format!(".keys(){step}")))?;
            written.push((key, self.value(&value).map_err(|refusal| refusal.within(&step))?));
        }
        Ok(Value::Map(written))
    }

    fn items(&mut self, items: impl Iterator<Item = Bound<'py, PyAny>>) -> Result<Vec<Value>, Refusal> {
        let mut written = Vec::new();
        for (index, item) in items.enumerate() {
            written.push(self.value(&item).map_err(|refusal| refusal.within(&format!("[{index}]")))?);
        }
        Ok(written)
    }

    fn exception(&mut self, object: &Bound<'py, PyAny>) -> Written {
        let name = match object.getattr_opt("name")? {
            Some(name) if object.is_instance(self.types.js_error.bind(self.py))? => name.extract()?,
            _ => object.get_type().name()?.to_string(),
        };
        let mut error = ErrorValue::new(name, object.str()?.to_string_lossy().into_owned());
        if let Some(cause) = object.getattr("__cause__").ok().filter(|cause| !cause.is_none()) {
            error.cause = Some(self.value(&cause)?);
        }
        Ok(Value::Error(Box::new(error)))
    }

    /// What `chrysalid.values` says in place of an object: a date, an array of numbers, or something simpler.
    fn simplified(&mut self, object: &Bound<'py, PyAny>) -> Written {
        let simpler = self.types.simplify.bind(self.py).call1((object,));
        let (kind, simpler): (String, Bound<'py, PyAny>) = simpler.map_err(Refusal::of)?.extract()?;
        self.kept.push(simpler.clone());
        match kind.as_str() {
            "date" => {
                self.count += 1;
                Ok(Value::Date(simpler.extract()?))
            }
            "value" => {
                if let Some(number) = self.seen.get(&object.as_ptr()) {
                    return Ok(Value::Ref(*number));
                }
                self.seen.insert(object.as_ptr(), self.count);
                self.kept.push(object.clone());
                self.value(&simpler)
            }
            "same" => self.value(&simpler),
            array => self.typed_array(array, &simpler),
        }
    }

    fn typed_array(&mut self, name: &str, bytes: &Bound<'py, PyAny>) -> Written {
        let kinds = [
            TypedArrayKind::Int8,
            TypedArrayKind::Uint8,
            TypedArrayKind::Int16,
            TypedArrayKind::Uint16,
            TypedArrayKind::Int32,
            TypedArrayKind::Uint32,
            TypedArrayKind::BigInt64,
            TypedArrayKind::BigUint64,
            TypedArrayKind::Float32,
            TypedArrayKind::Float64,
        ];
        let kind = kinds.into_iter().find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(|| Refusal::of(PyTypeError::new_err(format!("no typed array is named {name}"))))?;
        self.count += 1;
        Ok(Value::TypedArray(TypedArray { kind, bytes: bytes.extract()? }))
    }
}
