//! From a program to Python.

use std::collections::HashMap;

use chrysalid::{BigInt, ErrorValue, Object, TypedArray, TypedArrayKind, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyList, PySet, PyString};

use super::{Crossing, Handle, SAFE_INTEGER, Types};

/// The Python value of a whole tree.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Reader { py, types: Types::get(py)?, objects: Vec::new(), keys: HashMap::new() }.value(value)
}

struct Reader<'py, 'v> {
    py: Python<'py>,
    types: &'py Types,
    /// Those that `Value::Ref` counts, in its order.
    objects: Vec<Bound<'py, PyAny>>,
    /// Names of properties, which repeat in lists of objects.
    keys: HashMap<&'v str, Bound<'py, PyString>>,
}

impl<'py, 'v> Reader<'py, 'v> {
    fn value(&mut self, value: &'v Value) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        Ok(match value {
            Value::Undefined | Value::Hole => self.types.undefined.bind(py).clone(),
            Value::Null => py.None().into_bound(py),
            Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
            Value::Number(number) => self.number(*number)?,
            Value::BigInt(number) => self.big_int(number)?,
            Value::String(text) => PyString::new(py, text).into_any(),
            Value::ArrayBuffer(bytes) => self.kept(PyBytes::new(py, bytes).into_any()),
            Value::TypedArray(array) => self.typed_array(array)?,
            Value::Date(millis) => {
                let date = Crossing::get(py)?.date.bind(py).call1((*millis,))?;
                self.kept(date)
            }
            Value::RegExp(expression) => {
                let made = self.types.reg_exp.bind(py).call1((&expression.source, &expression.flags))?;
                self.kept(made)
            }
            Value::Array(items) => self.array(items)?,
            Value::Object(object) => self.object(object)?,
            Value::Map(pairs) => self.map(pairs)?,
            Value::Set(items) => self.set(items)?,
            Value::Error(error) => self.error(error)?,
            Value::Ref(index) => {
                let index = usize::try_from(*index).unwrap_or(usize::MAX);
                self.objects.get(index).cloned().unwrap_or_else(|| py.None().into_bound(py))
            }
            Value::Description(text) => self.types.description.bind(py).call1((text,))?,
            Value::Handle(handle) => Handle(handle.clone()).into_pyobject(py)?.into_any(),
        })
    }

    fn kept(&mut self, object: Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        self.objects.push(object.clone());
        object
    }

    /// An `int` where it is whole and JavaScript counts it so.
    fn number(&self, number: f64) -> PyResult<Bound<'py, PyAny>> {
        let whole =
            number.fract() == 0.0 && number.abs() <= SAFE_INTEGER && !(number == 0.0 && number.is_sign_negative());
        if whole {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
            let integer = number as i64;
            return Ok(integer.into_pyobject(self.py)?.into_any());
        }
        Ok(number.into_pyobject(self.py)?.into_any())
    }

    fn big_int(&self, number: &BigInt) -> PyResult<Bound<'py, PyAny>> {
        let sign = if number.is_negative() { "-" } else { "" };
        let text = format!("{sign}{}", number.magnitude_hex());
        let integer = self.py.get_type::<PyInt>().call1((text, 16))?;
        self.types.big_int.bind(self.py).call1((integer,))
    }

    fn typed_array(&mut self, array: &TypedArray) -> PyResult<Bound<'py, PyAny>> {
        let bytes = PyBytes::new(self.py, &array.bytes).into_any();
        let made = match array.kind {
            TypedArrayKind::Uint8 | TypedArrayKind::Uint8Clamped | TypedArrayKind::DataView => bytes,
            kind => Crossing::get(self.py)?.typed_array.bind(self.py).call1((kind.name(), bytes))?,
        };
        Ok(self.kept(made))
    }

    fn array(&mut self, items: &'v [Value]) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(self.py);
        self.kept(list.clone().into_any());
        for item in items {
            list.append(self.value(item)?)?;
        }
        Ok(list.into_any())
    }

    fn object(&mut self, object: &'v Object) -> PyResult<Bound<'py, PyAny>> {
        let dict = PyDict::new(self.py);
        self.kept(dict.clone().into_any());
        for (key, value) in object {
            let key = self.keys.entry(key).or_insert_with(|| PyString::new(self.py, key)).clone();
            dict.set_item(key, self.value(value)?)?;
        }
        Ok(dict.into_any())
    }

    fn map(&mut self, pairs: &'v [(Value, Value)]) -> PyResult<Bound<'py, PyAny>> {
        let map = self.types.map.bind(self.py).call0()?;
        self.kept(map.clone());
        let list = map.getattr("pairs")?.cast_into::<PyList>()?;
        for (key, value) in pairs {
            list.append((self.value(key)?, self.value(value)?))?;
        }
        Ok(map)
    }

    /// A `set` where Python can hash every item, else a list.
    fn set(&mut self, items: &'v [Value]) -> PyResult<Bound<'py, PyAny>> {
        if !items.iter().all(is_hashable) {
            return self.array(items);
        }
        let set = PySet::empty(self.py)?;
        self.kept(set.clone().into_any());
        for item in items {
            set.add(self.value(item)?)?;
        }
        Ok(set.into_any())
    }

    fn error(&mut self, error: &'v ErrorValue) -> PyResult<Bound<'py, PyAny>> {
        let made = self.types.js_error.bind(self.py).call1((&error.name, &error.message))?;
        self.kept(made.clone());
        made.setattr("stack", error.stack.as_deref())?;
        made.setattr("details", error.details.as_deref())?;
        if let Some(cause) = &error.cause {
            made.setattr("cause", self.value(cause)?)?;
        }
        if let Some(errors) = &error.errors {
            let list = PyList::empty(self.py);
            for error in errors {
                list.append(self.value(error)?)?;
            }
            made.setattr("errors", list)?;
        }
        Ok(made)
    }
}

fn is_hashable(value: &Value) -> bool {
    matches!(
        value,
        Value::Undefined
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::BigInt(_)
            | Value::String(_)
            | Value::Date(_)
            | Value::ArrayBuffer(_)
            | Value::Description(_)
            | Value::Handle(_)
    )
}
