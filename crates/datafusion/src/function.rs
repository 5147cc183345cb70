//! A function of `lydite-arrow` as a function of DataFusion: literals, scalars and `null_on_error`.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow_array::ArrayRef;
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

    /// Returns the form of a call. With one argument more, the last one is `null_on_error`.
    fn form(&self, arguments: usize, last: Option<&DataType>) -> Result<&'static Form> {
        let form = self.function.form(arguments);
        let form = match last {
            Some(DataType::Boolean) => form.or_else(|_| self.function.form(arguments - 1)),
            _ => form,
        };
        form.map_err(|error| plan_datafusion_err!("{error}"))
    }

    /// Returns the literal of a call; empty if the form has none.
    fn literal<'a>(
        &self,
        form: &Form,
        scalar: impl Fn(usize) -> Option<&'a ScalarValue>,
    ) -> Result<&'a str> {
        let mut parameters = form.parameters.iter();
        let Some(at) = parameters.position(|one| matches!(one, Parameter::Literal(_))) else {
            return Ok("");
        };
        match scalar(at).and_then(ScalarValue::try_as_str) {
            Some(Some(text)) => Ok(text),
            _ => plan_err!(
                "{}: expected a literal text for {}",
                self.function.name,
                form.parameters[at].name()
            ),
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
        let form = self.form(found.len(), found.last())?;
        for (parameter, found) in form.parameters.iter().zip(found) {
            let checked = self.function.check(*parameter, found);
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
        let form = self.form(args.arg_fields.len(), last)?;
        let literal = self.literal(form, |at| args.scalar_arguments[at])?;
        if let Some(value) = args.scalar_arguments.get(form.parameters.len()) {
            self.null_on_error(*value)?;
        }
        match self.function.result(literal) {
            Ok(result) => Ok(Arc::new(Field::new(self.function.name, result, true))),
            Err(error) => plan_err!("{}: {error}", self.function.name),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let name = self.function.name;
        let last = args.arg_fields.last().map(|field| field.data_type());
        let form = self.form(args.args.len(), last)?;
        let scalar = |at: usize| match args.args.get(at) {
            Some(ColumnarValue::Scalar(value)) => Some(value),
            _ => None,
        };
        let literal = self.literal(form, scalar)?;
        let null_on_error = match args.args.len() > form.parameters.len() {
            true => self.null_on_error(scalar(form.parameters.len()))?,
            false => true,
        };
        let arguments = form.parameters.iter().zip(&args.args);
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
