//! From Python to a program.

use std::collections::{HashMap, HashSet};

use chrysalid::{BigInt, ErrorValue, Object, RegExp, TypedArray, TypedArrayKind, Value};
use pyo3::exceptions::{PyBaseException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple,
};

use super::{Crossing, Handle, MAX_DEPTH, SAFE_INTEGER, Types};

/// The value of a Python object.
pub(crate) fn of_python(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    of_python_named(object, "value")
}

/// The same; errors speak of the object by this name.
pub(crate) fn of_python_named(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Value> {
    let py = object.py();
    let mut writer = Writer { py, types: Types::get(py)?, seen: HashMap::new(), count: 0, depth: 0 };
    writer.value(object).map_err(|refusal| refusal.raise(py, name))
}

/// Why an object does not cross, and where it stands.
struct Refusal {
    why: Why,
    path: String,
}

enum Why {
    /// Code of the host's, such as a property, raised this.
    Raised(PyErr),
    /// Nothing crosses in the place of an object of this type.
    Kind(String),
    /// The value is not one that crosses.
    Value(String),
}

/// Characters of a path, so that a deep value has a readable refusal.
const LONGEST_PATH: usize = 80;

impl From<PyErr> for Refusal {
    fn from(error: PyErr) -> Self {
        Self { why: Why::Raised(error), path: String::new() }
    }
}

impl Refusal {
    fn of(why: Why) -> Self {
        Self { why, path: String::new() }
    }

    /// The same, seen from one step further out.
    fn within(mut self, step: &str) -> Self {
        if self.path.len() < LONGEST_PATH {
            self.path.insert_str(0, step);
        } else if !self.path.starts_with('…') {
            self.path.insert(0, '…');
        }
        self
    }

    fn raise(self, py: Python<'_>, name: &str) -> PyErr {
        let place = format!("{name}{}", self.path);
        match self.why {
            Why::Kind(kind) => {
                PyTypeError::new_err(format!("{place}: a value of type {kind} does not cross to a program"))
            }
            Why::Value(text) => PyValueError::new_err(format!("{place}: {text}")),
            Why::Raised(error) => {
                // A note is a help, no more: an exception may have no room for one.
                drop(error.value(py).call_method1("add_note", (format!("raised by {place}"),)));
                error
            }
        }
    }
}

type Written = Result<Value, Refusal>;
type Pair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

struct Writer<'py> {
    py: Python<'py>,
    types: &'py Types,
    /// Containers that can be changed, by identity: their number among the objects of the tree. They are kept, so that no
    /// identity is used twice.
    seen: HashMap<*mut pyo3::ffi::PyObject, (u32, Bound<'py, PyAny>)>,
    count: u32,
    depth: usize,
}

impl<'py> Writer<'py> {
    fn value(&mut self, object: &Bound<'py, PyAny>) -> Written {
        if self.depth >= MAX_DEPTH {
            return Err(Refusal::of(Why::Value(format!("is nested deeper than {MAX_DEPTH} levels"))));
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
            Ok(Value::String(characters(text)?))
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
            if !tuple.is_exact_instance_of::<PyTuple>() && object.is_instance(self.types.reg_exp.bind(self.py))? {
                return reg_exp(object);
            }
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
            let items: Vec<_> = set.iter().collect();
            self.once(object, |writer| writer.items(items.into_iter()).map(Value::Set))
        } else if let Ok(set) = object.cast::<PyFrozenSet>() {
            self.count += 1;
            self.items(set.iter()).map(Value::Set)
        } else if let Ok(handle) = object.cast::<Handle>() {
            Ok(Value::Handle(handle.get().0.clone()))
        } else if object.is_instance(self.types.map.bind(self.py))? {
            let pairs = object.getattr("pairs")?.try_iter()?;
            self.once(object, |writer| writer.pairs(pairs.map(|pair| pair?.extract())))
        } else if object.is_instance_of::<PyBaseException>() {
            self.once(object, |writer| writer.exception(object))
        } else {
            self.simplified(object)
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
        number.map(Value::BigInt).ok_or_else(|| Refusal::of(Why::Value("is no whole number".to_owned())))
    }

    /// A container: itself where it stands first, and a reference to that place elsewhere.
    fn once(&mut self, object: &Bound<'py, PyAny>, write: impl FnOnce(&mut Self) -> Written) -> Written {
        if let Some((number, _)) = self.seen.get(&object.as_ptr()) {
            return Ok(Value::Ref(*number));
        }
        self.seen.insert(object.as_ptr(), (self.count, object.clone()));
        self.count += 1;
        write(self)
    }

    fn dict(&mut self, dict: &Bound<'py, PyDict>) -> Written {
        // Read at once: code of the host's, that a value may run, could change the dict.
        let entries: Vec<_> = dict.iter().collect();
        let Some(names) = property_names(&entries) else {
            return self.pairs(entries.into_iter().map(Ok));
        };
        let mut written = Vec::with_capacity(entries.len());
        for (name, (_, value)) in names.into_iter().zip(&entries) {
            let value = self.value(value).map_err(|refusal| refusal.within(&format!(".{name}")))?;
            written.push((name, value));
        }
        Ok(Value::Object(written.into_iter().collect::<Object>()))
    }

    fn pairs(&mut self, pairs: impl Iterator<Item = PyResult<Pair<'py>>>) -> Written {
        let mut written = Vec::new();
        for (index, pair) in pairs.enumerate() {
            let (key, value) = pair?;
            let key = self.value(&key).map_err(|refusal| refusal.within(&format!(".keys[{index}]")))?;
            written.push((key, self.value(&value).map_err(|refusal| refusal.within(&format!(".values[{index}]")))?));
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
        let simpler = Crossing::get(self.py)?.simplify.bind(self.py).call1((object,))?;
        let Some((kind, simpler)) = simpler.extract::<Option<(String, Bound<'py, PyAny>)>>()? else {
            return Err(Refusal::of(Why::Kind(object.get_type().fully_qualified_name()?.to_string())));
        };
        match kind.as_str() {
            "date" => {
                self.count += 1;
                Ok(Value::Date(simpler.extract()?))
            }
            "value" => {
                if let Some((number, _)) = self.seen.get(&object.as_ptr()) {
                    return Ok(Value::Ref(*number));
                }
                self.seen.insert(object.as_ptr(), (self.count, object.clone()));
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
        let kind = kind.ok_or_else(|| Refusal::of(Why::Value(format!("no typed array is named {name}"))))?;
        self.count += 1;
        Ok(Value::TypedArray(TypedArray { kind, bytes: bytes.extract()? }))
    }
}

fn reg_exp(object: &Bound<'_, PyAny>) -> Written {
    let (source, flags) = object.extract()?;
    Ok(Value::RegExp(Box::new(RegExp { source, flags })))
}

/// The characters of a text. A lone surrogate, which Python can hold, becomes one U+FFFD as everywhere; a pair becomes its
/// character.
fn characters(text: &Bound<'_, PyString>) -> PyResult<String> {
    if let Ok(text) = text.to_str() {
        return Ok(text.to_owned());
    }
    let units = text.call_method1("encode", ("utf-16-le", "surrogatepass"))?;
    units.call_method1("decode", ("utf-16-le", "replace"))?.extract()
}

/// The keys of a dict as names of properties: texts, and whole numbers as JSON writes them. `None` where one is of another
/// kind, or two would have one name.
fn property_names(entries: &[Pair<'_>]) -> Option<Vec<String>> {
    let mut has_numbers = false;
    let mut names = Vec::with_capacity(entries.len());
    for (key, _) in entries {
        if let Ok(text) = key.cast::<PyString>() {
            names.push(characters(text).ok()?);
        } else if key.is_instance_of::<PyInt>() && !key.is_instance_of::<PyBool>() {
            has_numbers = true;
            names.push(key.extract::<i64>().ok()?.to_string());
        } else {
            return None;
        }
    }
    if has_numbers {
        let mut seen = HashSet::with_capacity(names.len());
        if !names.iter().all(|name| seen.insert(name)) {
            return None;
        }
    }
    Some(names)
}
