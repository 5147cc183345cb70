//! Calls of functions.

use arrow_array::StructArray;
use arrow_schema::FieldRef;
use lydite_evm::abi::{CallCodec, Mode};

use crate::{
    ByteColumn, Decoded, Error, Failure, Options, RowError,
    decoder::{Decoder, Place, Rows},
    prefix::PrefixMap,
};

/// Decoder for the calls of one function.
#[derive(Clone, Debug)]
pub struct CallDecoder {
    function: CallCodec,
    decoder: Decoder,
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

    /// Prepares the columns of a function's arguments.
    pub fn new(function: CallCodec, options: &Options) -> Self {
        let inputs = function.signature().inputs.iter();
        let parameters = inputs.map(|parameter| (parameter, Place::Data));
        let decoder = Decoder::new(parameters, function.inputs().clone(), options);
        Self { function, decoder }
    }

    /// Returns the function.
    pub fn codec(&self) -> &CallCodec {
        &self.function
    }

    /// Returns the fields of the decoded columns, in the order of the signature.
    pub fn fields(&self) -> &[FieldRef] {
        self.decoder.fields()
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
        let (columns, invalid) = self.decoder.decode(&Calls(data), rows);
        Decoded {
            columns,
            failures: self.failures(data, invalid),
        }
    }

    /// Decodes all calls to one struct per row, which is null if the selector differs or the call is invalid.
    pub fn decode_all(&self, data: &ByteColumn) -> (StructArray, Vec<Failure>) {
        let selector = self.function.selector();
        let selected = (0..data.len()).filter(|row| {
            let data = data.get(*row);
            data.is_some_and(|data| data.starts_with(&selector))
        });
        let selected: Vec<usize> = selected.collect();
        let (structs, invalid) = self.decoder.decode_all(&Calls(data), data.len(), &selected);
        (structs, self.failures(data, invalid))
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
    by_selector: PrefixMap<[u8; 4], usize>,
}

impl CallSet {
    /// Combines decoders. Of functions with equal selectors, the first one is kept.
    pub fn new(decoders: impl IntoIterator<Item = CallDecoder>) -> Self {
        let mut set = Self {
            decoders: Vec::new(),
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
