//! Calls of functions.

use arrow_array::StructArray;
use arrow_schema::FieldRef;
use lydite_evm::abi::{CallCodec, Mode, Parameter};

use crate::{
    ByteColumn, Decoded, Error, Failure, Options, RowError,
    decoder::{Decoder, Place, Rows},
    error::merged,
    prefix::PrefixMap,
};

/// Decoder for the calls of one function.
#[derive(Clone, Debug)]
pub struct CallDecoder {
    function: CallCodec,
    decoder: Decoder,
    results: Decoder,
}

/// The data of calls, each of which starts with a selector.
struct Calls<'a>(&'a ByteColumn);

impl Rows for Calls<'_> {
    fn data(&self, rows: &[usize]) -> Vec<&[u8]> {
        self.0.map(rows, |data| {
            data.and_then(|data| data.get(4..)).unwrap_or_default()
        })
    }

    fn readable(&self, rows: &[usize]) -> Vec<bool> {
        rows.iter().map(|row| !self.0.is_invalid(*row)).collect()
    }
}

/// The returned values of calls. Null and empty ones, and those of calls that are not valid, are not read.
struct Results<'a> {
    output: &'a ByteColumn,
    invalid: &'a [Failure],
}

impl Results<'_> {
    fn is_present(&self, row: usize) -> bool {
        let is_valid = || {
            let found = self
                .invalid
                .binary_search_by_key(&row, |failure| failure.row);
            found.is_err()
        };
        self.output
            .get(row)
            .is_some_and(|output| !output.is_empty())
            && is_valid()
    }
}

impl Rows for Results<'_> {
    fn data(&self, rows: &[usize]) -> Vec<&[u8]> {
        self.output.map(rows, Option::unwrap_or_default)
    }

    fn readable(&self, rows: &[usize]) -> Vec<bool> {
        rows.iter().map(|row| self.is_present(*row)).collect()
    }
}

impl CallDecoder {
    /// Compiles a signature like [`CallCodec::parse`].
    ///
    /// # Errors
    /// [`Error::Signature`].
    pub fn parse(signature: &str, options: &Options) -> Result<Self, Error> {
        let function = CallCodec::parse(signature);
        let function = function.map_err(|error| Error::Signature(signature.into(), error))?;
        Ok(Self::new(function, options))
    }

    /// Prepares the columns of a function's arguments and results.
    pub fn new(function: CallCodec, options: &Options) -> Self {
        let inputs = function.signature().inputs.iter();
        let parameters = inputs.map(|parameter| (parameter, Place::Data));
        let decoder = Decoder::new(parameters, function.inputs().clone(), options);
        let outputs = function.signature().outputs.iter().enumerate();
        let outputs: Vec<Parameter> = outputs
            .map(|(i, output)| {
                let name = match output.name.as_str() {
                    "" => format!("output_{i}"),
                    name => format!("output_{name}"),
                };
                Parameter {
                    name,
                    ..output.clone()
                }
            })
            .collect();
        let outputs = outputs.iter().map(|output| (output, Place::Data));
        let results = Decoder::new(outputs, function.outputs().clone(), options);
        Self {
            function,
            decoder,
            results,
        }
    }

    /// Returns the function.
    pub fn codec(&self) -> &CallCodec {
        &self.function
    }

    /// Returns the fields of the decoded columns, in the order of the signature.
    pub fn fields(&self) -> &[FieldRef] {
        self.decoder.fields()
    }

    /// Returns the fields of the columns of [`decode_results`](Self::decode_results): `output_` and the name of each returned
    /// value, or its position.
    pub fn result_fields(&self) -> &[FieldRef] {
        self.results.fields()
    }

    /// Returns how strictly encodings are checked.
    pub fn mode(&self) -> Mode {
        self.decoder.mode()
    }

    /// Decodes the selected rows, whose selectors must match.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn decode(&self, data: &ByteColumn, rows: &[usize]) -> Decoded {
        let decoded = self.decoder.decode(&Calls(data), rows);
        Decoded {
            columns: decoded.columns,
            failures: self.failures(data, decoded.null),
            overflows: decoded.overflows,
        }
    }

    /// Decodes all calls to one struct per row, which is null if the selector differs or the call is invalid. The
    /// failures include [`Decoded::overflows`].
    pub fn decode_all(&self, data: &ByteColumn) -> (StructArray, Vec<Failure>) {
        let selector = self.function.selector();
        let selected = (0..data.len()).filter(|row| {
            let data = data.get(*row);
            data.is_some_and(|data| data.starts_with(&selector))
        });
        let selected: Vec<usize> = selected.collect();
        let (structs, invalid, overflows) =
            self.decoder.decode_all(&Calls(data), data.len(), &selected);
        let mut failures = self.failures(data, invalid);
        failures.extend(data.invalid_failures());
        (structs, merged(failures, overflows))
    }

    /// Decodes what the selected calls returned. A call that returned nothing (null or empty) has null results, and so do the
    /// rows in `invalid`, which must be in order.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn decode_results(
        &self,
        output: &ByteColumn,
        rows: &[usize],
        invalid: &[Failure],
    ) -> Decoded {
        let source = Results { output, invalid };
        let decoded = self.results.decode(&source, rows);
        let null = decoded.null.into_iter();
        let failures = null
            .filter(|row| source.is_present(*row) || output.is_invalid(*row))
            .map(|row| self.result_failure(output, row));
        Decoded {
            columns: decoded.columns,
            failures: failures.collect(),
            overflows: decoded.overflows,
        }
    }

    /// Decodes what calls returned to one struct per row, which is null if that is null, empty or invalid. The failures
    /// include [`Decoded::overflows`].
    pub fn decode_all_results(&self, output: &ByteColumn) -> (StructArray, Vec<Failure>) {
        let selected = (0..output.len()).filter(|row| {
            let output = output.get(*row);
            output.is_some_and(|output| !output.is_empty())
        });
        let selected: Vec<usize> = selected.collect();
        let source = Results {
            output,
            invalid: &[],
        };
        let (structs, mut invalid, overflows) =
            self.results.decode_all(&source, output.len(), &selected);
        invalid.extend(output.invalid_rows());
        invalid.sort_unstable();
        let failures = invalid
            .into_iter()
            .map(|row| self.result_failure(output, row));
        (structs, merged(failures.collect(), overflows))
    }

    fn result_failure(&self, output: &ByteColumn, row: usize) -> Failure {
        let data = output.get(row).unwrap_or_default();
        let error = match self.function.outputs().decode_with(data, self.mode()) {
            _ if output.is_invalid(row) => RowError::Hexadecimal,
            Err(error) => RowError::Results(error),
            Ok(_) => RowError::Full,
        };
        Failure { row, error }
    }

    fn failures(&self, data: &ByteColumn, invalid: Vec<usize>) -> Vec<Failure> {
        let invalid = invalid.into_iter().map(|row| Failure {
            row,
            error: self.explain(data, row),
        });
        invalid.collect()
    }

    fn explain(&self, data: &ByteColumn, row: usize) -> RowError {
        let found = data.get(row).unwrap_or_default();
        match self.function.decode_with(found, self.mode()) {
            _ if data.is_invalid(row) => RowError::Hexadecimal,
            Err(error) => RowError::Abi(error),
            Ok(_) => RowError::Full,
        }
    }
}

/// Decoders for several functions, found by selector.
#[derive(Clone, Debug)]
pub struct CallSet {
    decoders: Vec<CallDecoder>,
    has_results: bool,
    by_selector: PrefixMap<[u8; 4], usize>,
}

impl CallSet {
    /// Combines decoders. Of functions with equal selectors, the first one is kept.
    pub fn new(decoders: impl IntoIterator<Item = CallDecoder>) -> Self {
        let mut set = Self {
            decoders: Vec::new(),
            has_results: false,
            by_selector: PrefixMap::default(),
        };
        for decoder in decoders {
            let next = set.decoders.len();
            if *set
                .by_selector
                .entry(decoder.function.selector())
                .or_insert(next)
                == next
            {
                set.decoders.push(decoder);
            }
        }
        set
    }

    /// Also decodes the returned values, in a [`Transform`](crate::Transform): from a column of the role
    /// [`Output`](crate::Role::Output), see [`CallDecoder::decode_results`]. A row whose returned values are invalid keeps its
    /// arguments.
    pub fn with_results(self) -> Self {
        Self {
            has_results: true,
            ..self
        }
    }

    /// Whether the returned values are decoded.
    pub(crate) fn has_results(&self) -> bool {
        self.has_results
    }

    /// Returns the decoders.
    pub fn decoders(&self) -> &[CallDecoder] {
        &self.decoders
    }

    /// Returns the rows of each decoder: those whose data starts with its selector.
    pub fn select(&self, data: &ByteColumn) -> Vec<Vec<usize>> {
        let mut rows = vec![Vec::new(); self.decoders.len()];
        if let ([decoder], [rows]) = (self.decoders.as_slice(), rows.as_mut_slice()) {
            let selector = decoder.function.selector();
            data.for_each(|row, data| {
                if data.starts_with(&selector) {
                    rows.push(row);
                }
            });
        } else {
            data.for_each(|row, data| {
                let selector = data.first_chunk();
                if let Some(decoder) = selector.and_then(|selector| self.by_selector.get(selector))
                {
                    rows[*decoder].push(row);
                }
            });
        }
        rows
    }
}
