//! Logs of events whose signature is known only at run time.

use alloc::{string::ToString, vec::Vec};

use lydite_bytes::{B256, FixedBytes};
use lydite_hash::keccak256;

use super::{Codec, Error, ErrorKind, Mode, Parameter, Signature, Value, call::compile};

/// Decoder for the logs of one event, compiled from its human-readable signature.
///
/// ```
/// use lydite_bytes::{Address, B256, U256};
/// use lydite_evm::abi::{EventCodec, Value};
/// let transfer = EventCodec::parse("event Transfer(address indexed from, address indexed to, uint256 value)")?;
/// let (from, to) = (Address([0x11; 20]), Address([0x22; 20]));
/// let topics = [*transfer.topic(), from.into_word(), to.into_word()];
/// let values = transfer.decode(&topics, &B256::from(U256::from(7u8).to_be_bytes()).0)?;
/// assert_eq!(values, [Value::Address(from), Value::Address(to), Value::Uint(U256::from(7u8), 256)]);
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventCodec {
    signature: Signature,
    topic: B256,
    anonymous: bool,
    /// One entry per indexed parameter; `None` if the topic is a hash.
    indexed: Vec<Option<Codec>>,
    data: Codec,
}

impl EventCodec {
    /// Compiles `event Name(type indexed name, …) [anonymous]`; the word `event` is optional.
    ///
    /// # Errors
    /// Those of [`Signature::parse`] and [`new`](Self::new).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let (signature, anonymous) = Signature::parse_modifiers(text, true)?;
        Self::new(signature, anonymous)
    }

    /// Compiles a signature.
    ///
    /// # Errors
    /// Those of [`Codec::new`]; `Size` if there are more indexed parameters than a log has topics.
    pub fn new(signature: Signature, anonymous: bool) -> Result<Self, Error> {
        let indexed = signature
            .inputs
            .iter()
            .filter(|parameter| parameter.indexed)
            .map(|Parameter { ty, .. }| ty.is_value().then(|| Codec::new(ty)).transpose())
            .collect::<Result<Vec<_>, _>>()?;
        if indexed.len() > 3 + usize::from(anonymous) {
            return Err(Error::new(ErrorKind::Size, 0));
        }
        let inputs = signature.inputs.iter();
        let data = compile(inputs.filter(|parameter| !parameter.indexed))?;
        Ok(Self {
            topic: FixedBytes(keccak256(signature.to_string().as_bytes())),
            anonymous,
            indexed,
            data,
            signature,
        })
    }

    /// Returns the name and parameters.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Returns the first topic of the event's logs: Keccak-256 of the canonical signature. Logs of anonymous events do
    /// not contain it.
    pub fn topic(&self) -> &B256 {
        &self.topic
    }

    /// Whether the event is declared `anonymous`.
    pub fn is_anonymous(&self) -> bool {
        self.anonymous
    }

    /// Returns the codec of the parameters that are not indexed, which are in the log's data.
    pub fn data(&self) -> &Codec {
        &self.data
    }

    /// Decodes the parameters' values, in the order of the signature. The log does not contain an indexed parameter
    /// whose type is longer than a word: its value is the topic, a `bytes32` with the Keccak-256 of its encoding.
    ///
    /// # Errors
    /// `Selector` if the number of topics or the first topic does not match this event; otherwise an error in the data
    /// or, with an offset below 32, in a topic.
    pub fn decode(&self, topics: &[B256], data: &[u8]) -> Result<Vec<Value>, Error> {
        self.decode_with(topics, data, Mode::Strict)
    }

    /// Like [`decode`](Self::decode), in the given mode.
    ///
    /// # Errors
    /// Those of [`decode`](Self::decode).
    pub fn decode_with(
        &self,
        topics: &[B256],
        data: &[u8],
        mode: Mode,
    ) -> Result<Vec<Value>, Error> {
        let topics = self
            .indexed_topics(topics)
            .ok_or(Error::new(ErrorKind::Selector, 0))?;
        let mut indexed = topics.iter().zip(&self.indexed);
        let mut rest = self.data.decode_with(data, mode)?.into_iter();
        let mut values = Vec::with_capacity(self.signature.inputs.len());
        for parameter in &self.signature.inputs {
            if !parameter.indexed {
                values.extend(rest.next());
            } else if let Some((topic, codec)) = indexed.next() {
                match codec {
                    Some(codec) => values.extend(codec.decode_with(&topic.0, mode)?),
                    None => values.push(Value::FixedBytes(topic.0, 32)),
                }
            }
        }
        Ok(values)
    }

    /// Returns the topics of the indexed parameters; `None` if the number of topics or the first topic does not match
    /// this event.
    pub(super) fn indexed_topics<'t>(&self, topics: &'t [B256]) -> Option<&'t [B256]> {
        let topics = match (self.anonymous, topics) {
            (true, topics) => topics,
            (false, [first, rest @ ..]) if *first == self.topic => rest,
            _ => return None,
        };
        (topics.len() == self.indexed.len()).then_some(topics)
    }
}
