//! The kernels as functions of columns, by the names that they have in SQL.

mod decode;
mod integers;
mod values;

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;

use crate::{Error, Failure};

/// A function of columns, such as `evm_sender(raw)`.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// Its lists of arguments, which differ in number.
    pub forms: &'static [Form],
    result: fn(&str) -> Result<DataType, Error>,
}

/// A list of arguments.
#[derive(Debug)]
pub struct Form {
    /// The arguments, of which at most one is a [`Parameter::Literal`], and at most one [`Parameter::Several`].
    pub parameters: &'static [Parameter],
    kernel: fn(&[ArrayRef], &str) -> Result<Computed, Error>,
}

/// The results, and the rows that are null because they are invalid.
pub type Computed = (ArrayRef, Vec<Failure>);

fn computed<A: Array + 'static>((values, failures): (A, Vec<Failure>)) -> Computed {
    (Arc::new(values), failures)
}

/// The name of an argument, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A column that [`ByteColumn`](crate::ByteColumn) reads: binary, or hexadecimal text.
    Bytes(&'static str),
    /// A column of lists of these.
    List(&'static str),
    /// A column that [`to_uint256`](crate::to_uint256) converts.
    Integer(&'static str),
    /// A column of text.
    Text(&'static str),
    /// A column of the type that the literal requires.
    Any(&'static str),
    /// Any number of such columns.
    Several(&'static str),
    /// A text that is the same in all rows, such as a signature.
    Literal(&'static str),
}

/// Returns all functions.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int64Array, cast::AsArray};
/// use lydite_arrow::functions;
///
/// let column: ArrayRef = Arc::new(Int64Array::from(vec![255]));
/// let function = functions().find(|function| function.name == "uint256");
/// let (words, failures) = function.expect("in the list").call(&[column], "")?;
/// assert_eq!(words.as_fixed_size_binary().value(0)[31], 255);
/// assert!(failures.is_empty());
/// # Ok::<(), lydite_arrow::Error>(())
/// ```
pub fn functions() -> impl Iterator<Item = &'static Function> {
    let functions = [decode::FUNCTIONS, values::FUNCTIONS, integers::FUNCTIONS];
    functions.into_iter().flatten()
}

impl Function {
    /// Returns the form with this number of arguments, including the literal.
    ///
    /// # Errors
    /// [`Error::Arguments`].
    pub fn form(&self, arguments: usize) -> Result<&'static Form, Error> {
        let mut forms = self.forms.iter();
        let form = forms.find(|form| form.accepts(arguments));
        form.ok_or_else(|| {
            let forms = self.forms.iter().map(|form| {
                let names = form.parameters.iter().map(|parameter| match parameter {
                    Parameter::Several(name) => format!("{name}…"),
                    parameter => parameter.name().into(),
                });
                format!("({})", names.collect::<Vec<_>>().join(", "))
            });
            let forms = forms.collect::<Vec<_>>().join(" or ");
            let found = match arguments {
                1 => "1 argument".into(),
                _ => format!("{arguments} arguments"),
            };
            self.error(format!("expected {forms}, found {found}"))
        })
    }

    /// Returns the type of the result. `literal` is the literal of the call, or empty.
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn result(&self, literal: &str) -> Result<DataType, Error> {
        (self.result)(literal)
    }

    /// Computes all rows. `columns` are the arguments that are not the literal; without any, there is one row.
    ///
    /// # Errors
    /// [`Error::Arguments`], [`Error::Length`] if the columns differ in length, [`Error::Signature`].
    pub fn call(&self, columns: &[ArrayRef], literal: &str) -> Result<Computed, Error> {
        let is_literal = |one: &Parameter| matches!(one, Parameter::Literal(_));
        let arguments = |form: &Form| {
            let literals = form.parameters.iter().filter(|one| is_literal(one));
            columns.len() + literals.count()
        };
        let mut forms = self.forms.iter();
        let form = match forms.find(|form| form.accepts(arguments(form))) {
            Some(form) => form,
            None => self.form(columns.len())?,
        };
        let parameters = form.parameters(arguments(form));
        let parameters = parameters.filter(|one| !is_literal(one));
        for (parameter, column) in parameters.zip(columns) {
            self.check(parameter, column.data_type())?;
        }
        (form.kernel)(columns, literal)
    }

    /// Checks the type of an argument.
    ///
    /// # Errors
    /// [`Error::Arguments`].
    pub fn check(&self, parameter: Parameter, found: &DataType) -> Result<(), Error> {
        let (accepted, expected) = match parameter {
            Parameter::Bytes(_) => (is_bytes(found), "binary or hexadecimal text"),
            Parameter::List(_) => (
                matches!(found, DataType::List(item) | DataType::LargeList(item) if is_bytes(item.data_type())),
                "a list of binary or hexadecimal text",
            ),
            Parameter::Integer(_) => (
                is_integer(found),
                "an integer, a decimal without fraction, text or binary",
            ),
            Parameter::Text(_) | Parameter::Literal(_) => (is_text(found), "text"),
            // Compared with the literal when it is called.
            Parameter::Any(_) | Parameter::Several(_) => return Ok(()),
        };
        match accepted {
            true => Ok(()),
            false => Err(self.error(format!(
                "expected {expected} for {}, found {found}",
                parameter.name()
            ))),
        }
    }

    fn error(&self, text: String) -> Error {
        Error::Arguments(format!("{}: {text}", self.name))
    }
}

impl Form {
    /// Whether a call may have this number of arguments.
    fn accepts(&self, arguments: usize) -> bool {
        match self.several() {
            Some(_) => arguments + 1 >= self.parameters.len(),
            None => arguments == self.parameters.len(),
        }
    }

    fn several(&self) -> Option<usize> {
        let mut parameters = self.parameters.iter();
        parameters.position(|one| matches!(one, Parameter::Several(_)))
    }

    /// Returns the parameter of each of this number of arguments.
    pub fn parameters(&self, arguments: usize) -> impl Iterator<Item = Parameter> {
        let several = self.several();
        let more = (arguments + 1).saturating_sub(self.parameters.len());
        let parameters = self.parameters.iter().enumerate();
        parameters.flat_map(move |(at, parameter)| {
            let count = if several == Some(at) { more } else { 1 };
            std::iter::repeat_n(*parameter, count)
        })
    }
}

impl Parameter {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bytes(name)
            | Self::List(name)
            | Self::Integer(name)
            | Self::Text(name)
            | Self::Any(name)
            | Self::Several(name)
            | Self::Literal(name) => name,
        }
    }
}

/// Whether a column of this type can be read as byte strings.
pub fn is_bytes(found: &DataType) -> bool {
    match found {
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => true,
        DataType::Dictionary(_, values) => is_bytes(values),
        other => is_text(other),
    }
}

fn is_integer(found: &DataType) -> bool {
    match found {
        DataType::Boolean | DataType::Decimal128(_, 0) | DataType::Decimal256(_, 0) => true,
        DataType::Dictionary(_, values) => is_integer(values),
        other => other.is_integer() || is_bytes(other),
    }
}

fn is_text(found: &DataType) -> bool {
    match found {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}
