//! A function of `lydite-arrow` as a function of DataFusion: literals, scalars and `null_on_error`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::{DataType, Field, FieldRef};
use datafusion_common::{
    Result, ScalarValue, exec_datafusion_err, exec_err, plan_datafusion_err, plan_err,
};
use datafusion_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use lydite_arrow::{Failure, Form, Function, Parameter};

#[derive(Debug)]
pub(crate) struct Scalar {
    function: &'static Function,
    aliases: Vec<String>,
    signature: Signature,
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl Scalar {
    pub(crate) fn new(function: &'static Function) -> Self {
        Self {
            function,
            aliases: function.aliases.iter().map(ToString::to_string).collect(),
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }

    /// Returns the form of a call, and the number of its arguments. After them, a last one is `null_on_error`.
    fn form(&self, arguments: usize, last: Option<&DataType>) -> Result<(&'static Form, usize)> {
        let form = match last {
            Some(DataType::Boolean) => self.function.form(arguments - 1).ok(),
            _ => None,
        };
        match form {
            Some(form) => Ok((form, arguments - 1)),
            None => match self.function.form(arguments) {
                Ok(form) => Ok((form, arguments)),
                Err(error) => plan_err!("{error}"),
            },
        }
    }

    /// Returns the literal of a call; empty if the form has none.
    fn literal<'a>(
        &self,
        form: &Form,
        arguments: usize,
        scalar: impl Fn(usize) -> Option<&'a ScalarValue>,
    ) -> Result<&'a str> {
        let mut parameters = form.parameters(arguments).enumerate();
        let literal = parameters.find(|(_, one)| matches!(one, Parameter::Literal(_)));
        let Some((at, parameter)) = literal else {
            return Ok("");
        };
        match scalar(at).and_then(ScalarValue::try_as_str) {
            Some(Some(text)) => Ok(text),
            _ => plan_err!(
                "{}: expected a literal text for {}",
                self.function.name,
                parameter.name()
            ),
        }
    }

    /// Checks the types of values that must be those of a signature.
    fn check_values(
        &self,
        form: &Form,
        arguments: usize,
        fields: &[FieldRef],
        literal: &str,
    ) -> Result<()> {
        let is_value = |one: &Parameter| matches!(one, Parameter::Any(_) | Parameter::Several(_));
        if !form.parameters.iter().any(is_value) {
            return Ok(());
        }
        let parameters = form.parameters(arguments).zip(fields);
        let columns = parameters.filter(|(one, _)| !matches!(one, Parameter::Literal(_)));
        let columns: Vec<ArrayRef> = columns
            .map(|(_, field)| new_empty_array(field.data_type()))
            .collect();
        match self.function.call(&columns, literal) {
            Ok(_) => Ok(()),
            Err(error) => plan_err!("{}: {error}", self.function.name),
        }
    }

    fn null_on_error(&self, value: Option<&ScalarValue>) -> Result<bool> {
        match value {
            Some(ScalarValue::Boolean(Some(value))) => Ok(*value),
            _ => plan_err!(
                "{}: expected the literal true or false for null_on_error",
                self.function.name
            ),
        }
    }
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.function.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, found: &[DataType]) -> Result<Vec<DataType>> {
        let (form, arguments) = self.form(found.len(), found.last())?;
        for (parameter, found) in form.parameters(arguments).zip(found) {
            let checked = self.function.check(parameter, found);
            checked.map_err(|error| plan_datafusion_err!("{error}"))?;
        }
        Ok(found.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        // Not called, since there is a field.
        exec_err!("{}: the type depends on the arguments", self.function.name)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        let last = args.arg_fields.last().map(|field| field.data_type());
        let (form, arguments) = self.form(args.arg_fields.len(), last)?;
        let literal = self.literal(form, arguments, |at| args.scalar_arguments[at])?;
        if let Some(value) = args.scalar_arguments.get(arguments) {
            self.null_on_error(*value)?;
        }
        let result = match self.function.result(literal) {
            Ok(result) => Arc::new(Field::new(self.function.name, result, true)),
            Err(error) => return plan_err!("{}: {error}", self.function.name),
        };
        self.check_values(form, arguments, args.arg_fields, literal)?;
        Ok(result)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let name = self.function.name;
        let last = args.arg_fields.last().map(|field| field.data_type());
        let (form, count) = self.form(args.args.len(), last)?;
        let scalar = |at: usize| match args.args.get(at) {
            Some(ColumnarValue::Scalar(value)) => Some(value),
            _ => None,
        };
        let literal = self.literal(form, count, scalar)?;
        let null_on_error = match args.args.len() > count {
            true => self.null_on_error(scalar(count))?,
            false => true,
        };
        let arguments = form.parameters(count).zip(&args.args);
        let columns =
            arguments.filter(|(parameter, _)| !matches!(parameter, Parameter::Literal(_)));
        let columns: Vec<&ColumnarValue> = columns.map(|(_, value)| value).collect();
        // One row is enough for arguments that are the same in all rows.
        let constant = (columns.iter()).all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { args.number_rows };
        let columns = columns.iter().map(|value| value.to_array(rows));
        let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
        let computed = self.function.call(&columns, literal);
        let (result, failures) = computed.map_err(|error| exec_datafusion_err!("{error}"))?;
        if let (false, Some(Failure { row, error })) = (null_on_error, failures.first()) {
            return exec_err!("{name}: row {row} of the batch: {error}");
        }
        Ok(match constant {
            true => ColumnarValue::Scalar(ScalarValue::try_from_array(&result, 0)?),
            false => ColumnarValue::Array(result),
        })
    }
}
