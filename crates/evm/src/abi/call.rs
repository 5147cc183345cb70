//! Calls of functions whose signature is known only at run time.

use alloc::{string::ToString, vec::Vec};

use lydite_hash::keccak256;

use super::{Codec, Error, ErrorKind, Mode, Parameter, Signature, Type, Value};

/// Encoder and decoder for the calls of one function, or for the data of one custom error, compiled from its signature.
///
/// ```
/// use lydite_bytes::{Address, U256};
/// use lydite_evm::abi::{CallCodec, Value};
/// let transfer = CallCodec::parse("function transfer(address to, uint256 amount) returns (bool)")?;
/// let arguments = [Value::Address(Address([0x11; 20])), Value::Uint(U256::from(7u8), 256)];
/// let data = transfer.encode(&arguments)?;
/// assert_eq!(data[..4], [0xa9, 0x05, 0x9c, 0xbb]);
/// assert_eq!(transfer.decode(&data)?, arguments);
/// let returned = lydite_evm::abi::encode(&true);
/// assert_eq!(transfer.outputs().decode(&returned)?, [Value::Bool(true)]);
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CallCodec {
    signature: Signature,
    selector: [u8; 4],
    inputs: Codec,
    outputs: Codec,
}

impl CallCodec {
    /// Compiles `name(types)`, or a human-readable `function …` or `error …` line.
    ///
    /// # Errors
    /// Those of [`Signature::parse`] and [`new`](Self::new).
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::new(Signature::parse(text)?)
    }

    /// Compiles a signature.
    ///
    /// # Errors
    /// Those of [`Codec::new`].
    pub fn new(signature: Signature) -> Result<Self, Error> {
        let [a, b, c, d, ..] = keccak256(signature.to_string().as_bytes());
        Ok(Self {
            selector: [a, b, c, d],
            inputs: compile(&signature.inputs)?,
            outputs: compile(&signature.outputs)?,
            signature,
        })
    }

    /// Returns the name and parameters.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Returns the selector: the first four bytes of the Keccak-256 hash of the canonical signature.
    pub fn selector(&self) -> [u8; 4] {
        self.selector
    }

    /// Returns the codec of the arguments, without the selector.
    pub fn inputs(&self) -> &Codec {
        &self.inputs
    }

    /// Returns the codec of the returned values.
    pub fn outputs(&self) -> &Codec {
        &self.outputs
    }

    /// Encodes the selector and the arguments.
    ///
    /// # Errors
    /// Those of [`Codec::encode`].
    pub fn encode(&self, arguments: &[Value]) -> Result<Vec<u8>, Error> {
        let prefix = self.selector.len();
        let size = prefix + self.inputs.size(arguments)?;
        let mut data = Vec::with_capacity(size);
        data.extend(self.selector);
        data.resize(size, 0);
        self.inputs.write(arguments, &mut data[prefix..])?;
        Ok(data)
    }

    /// Decodes the arguments, in [`Mode::Strict`].
    ///
    /// # Errors
    /// `Selector` if `data` does not start with the selector; otherwise the kind of error and the byte of `data`.
    pub fn decode(&self, data: &[u8]) -> Result<Vec<Value>, Error> {
        self.decode_with(data, Mode::Strict)
    }

    /// Like [`decode`](Self::decode), in the given mode.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode).
    pub fn decode_with(&self, data: &[u8], mode: Mode) -> Result<Vec<Value>, Error> {
        let arguments = data
            .strip_prefix(&self.selector)
            .ok_or(Error::new(ErrorKind::Selector, 0))?;
        self.inputs
            .decode_with(arguments, mode)
            .map_err(|error| error.after(self.selector.len()))
    }
}

/// Compiles a list of parameters.
pub(super) fn compile<'a>(
    parameters: impl IntoIterator<Item = &'a Parameter>,
) -> Result<Codec, Error> {
    let types = parameters.into_iter().map(|parameter| parameter.ty.clone());
    Codec::new(&Type::Tuple(types.collect()))
}
