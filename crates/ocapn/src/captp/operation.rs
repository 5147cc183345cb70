//! The operations, in one form for all dialects.
use alloc::{borrow::Cow, vec::Vec};

use super::codec::{Codec, Read, Write};
use super::identity::{PublicKey, SecretKey, Signature};
use super::locator::Peer;
use super::{Dialect, Error, ErrorKind};
use crate::syrup::Buffer;

/// The recipient of a message: an object or answer on the receiver's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// `desc:export`: the receiver's object at this position.
    Export(u64),
    /// `desc:answer`: the receiver's future answer at this position.
    Answer(u64),
}

/// An object or promise on the sender's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Import {
    /// `desc:import-object`
    Object(u64),
    /// `desc:import-promise`
    Promise(u64),
}

/// A message. Positions are those on the wire.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation<'a> {
    /// The first message of each side.
    StartSession(StartSession<'a>),
    /// Sends arguments to an object.
    Deliver {
        /// The object.
        to: Target,
        /// A list, encoded.
        arguments: &'a [u8],
        /// Position at which the sender expects the answer.
        answer: Option<u64>,
        /// The object to notify of the answer.
        resolver: Option<Import>,
    },
    /// Requests a notification when a promise is resolved.
    Listen {
        /// The promise.
        to: Target,
        /// The object to notify.
        resolver: Import,
        /// Whether to notify when the promise resolves to another promise. The draft has no such field: it is false
        /// there.
        wants_partial: bool,
    },
    /// Objects that the sender no longer needs: position and number of references released.
    GcExports(Cow<'a, [(u64, u64)]>),
    /// Answers that the sender no longer needs.
    GcAnswers(Cow<'a, [u64]>),
    /// Ends the session.
    Abort {
        /// A reason for humans to read.
        reason: &'a str,
    },
    /// Reads a field of a struct.
    Get {
        /// The struct.
        from: Target,
        /// Its key.
        field: &'a str,
        /// Position at which the sender expects the answer.
        answer: u64,
    },
    /// Reads an item of a list.
    Index {
        /// The list.
        from: Target,
        /// Index of the item, from 0.
        index: u64,
        /// Position at which the sender expects the answer.
        answer: u64,
    },
    /// Extracts the value from a tagged value.
    Untag {
        /// The tagged value.
        from: Target,
        /// The expected tag.
        tag: &'a str,
        /// Position at which the sender expects the answer.
        answer: u64,
    },
}

/// The first message: the sender's key and location.
#[derive(Clone, Debug, PartialEq)]
pub struct StartSession<'a> {
    /// The sender's key for this session.
    pub key: PublicKey,
    /// Where the sender can be found.
    pub location: Peer<'a>,
    /// The key's signature of the location.
    pub signature: Signature,
}

/// The only supported version of the protocol.
const VERSION: &str = "1.0";

impl<'a> StartSession<'a> {
    /// Signs the location.
    pub fn sign<C: Codec>(key: &SecretKey, location: Peer<'a>) -> Result<Self, Error> {
        let signature = key.sign(&my_location::<C>(&location)?);
        Ok(Self {
            key: key.public_key(),
            location,
            signature,
        })
    }

    /// Fails unless the key signed the location.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidKey`], [`ErrorKind::InvalidSignature`].
    pub fn verify<C: Codec>(&self) -> Result<(), Error> {
        self.key
            .verify(&my_location::<C>(&self.location)?, &self.signature)
    }
}

/// The signed form of a location. (The draft specifies the location itself, but the test suite and Endo sign this.)
fn my_location<C: Codec>(location: &Peer<'_>) -> Result<Vec<u8>, Error> {
    let mut out = Vec::new();
    {
        let mut writer = C::writer(&mut out);
        writer.begin_record("my-location");
        location.write(&mut writer)?;
        writer.end_record();
    }
    Ok(out)
}

/// Labels of a message, with and without a result.
const DELIVER: &str = "op:deliver";
const DELIVER_ONLY: &str = "op:deliver-only";
/// Methods of a resolver.
const FULFILL: &str = "fulfill";
const BREAK: &str = "break";

impl<'a> Operation<'a> {
    /// Decodes `input`, which must be exactly one message.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Value`] for bytes that are not canonical or a value of an unexpected type;
    /// [`ErrorKind::UnknownLabel`], [`ErrorKind::NotInDialect`], [`ErrorKind::WrongVersion`],
    /// [`ErrorKind::InvalidKey`].
    ///
    /// ```
    /// use lydite_ocapn::captp::{Dialect, Operation, Syrup, Target};
    ///
    /// let deliver = Operation::decode::<Syrup>(
    ///     b"<15'op:deliver-only<11'desc:export5+>[5\"Hello]>",
    ///     Dialect::Suite202602,
    /// )?;
    /// assert_eq!(deliver, Operation::Deliver {
    ///     to: Target::Export(5),
    ///     arguments: b"[5\"Hello]",
    ///     answer: None,
    ///     resolver: None,
    /// });
    /// let mut draft = Vec::new();
    /// deliver.encode::<Syrup, _>(Dialect::Draft202607, &mut draft)?;
    /// assert_eq!(draft, b"<10'op:deliver<11'desc:export5+>[5\"Hello]ff>");
    /// # Ok::<(), lydite_ocapn::captp::Error>(())
    /// ```
    #[inline]
    pub fn decode<C: Codec>(input: &'a [u8], dialect: Dialect) -> Result<Self, Error> {
        let mut reader = C::reader(input);
        let operation = Self::read(&mut reader, dialect)?;
        reader.finish()?;
        Ok(operation)
    }

    /// Reads a message.
    #[inline]
    pub fn read<R: Read<'a>>(reader: &mut R, dialect: Dialect) -> Result<Self, Error> {
        let start = *reader;
        if reader.try_begin_record(DELIVER) {
            let to = Target::read(reader)?;
            let Deliver {
                arguments,
                answer,
                resolver,
            } = Deliver::read(reader, dialect, start.offset())?;
            return Ok(Self::Deliver {
                to,
                arguments,
                answer,
                resolver,
            });
        }
        let operation = match reader.begin_record()? {
            DELIVER_ONLY if dialect.has_deliver_only() => Self::Deliver {
                to: Target::read(reader)?,
                arguments: list(reader)?,
                answer: None,
                resolver: None,
            },
            label => Self::read_other(reader, label, dialect, start)?,
        };
        reader.end_record()?;
        Ok(operation)
    }

    /// Reads the less frequent operations.
    fn read_other<R: Read<'a>>(
        reader: &mut R,
        label: &str,
        dialect: Dialect,
        start: R,
    ) -> Result<Self, Error> {
        let (gc_exports, gc_answers) = dialect.gc_labels();
        Ok(match label {
            "op:start-session" => {
                let offset = reader.offset();
                if reader.string()? != VERSION {
                    return Err(ErrorKind::WrongVersion.at(offset));
                }
                Self::StartSession(StartSession {
                    key: PublicKey::read(reader)?,
                    location: Peer::read(reader)?,
                    signature: Signature::read(reader)?,
                })
            }
            "op:listen" => Self::Listen {
                to: Target::read(reader)?,
                resolver: Import::read(reader)?,
                wants_partial: dialect.has_partial_listeners() && reader.boolean()?,
            },
            "op:abort" => Self::Abort {
                reason: reader.string()?,
            },
            label if label == gc_exports => {
                let positions = integers(reader)?;
                let offset = reader.offset();
                let deltas = integers(reader)?;
                if positions.len() != deltas.len() {
                    return Err(ErrorKind::Value(crate::syrup::ErrorKind::WrongLength).at(offset));
                }
                Self::GcExports(positions.into_iter().zip(deltas).collect())
            }
            label if label == gc_answers => Self::GcAnswers(integers(reader)?.into()),
            "op:get" if dialect.has_data_operations() => Self::Get {
                from: Target::read(reader)?,
                field: reader.string()?,
                answer: reader.integer()?,
            },
            "op:index" if dialect.has_data_operations() => Self::Index {
                from: Target::read(reader)?,
                index: reader.integer()?,
                answer: reader.integer()?,
            },
            "op:untag" if dialect.has_data_operations() => Self::Untag {
                from: Target::read(reader)?,
                tag: reader.string()?,
                answer: reader.integer()?,
            },
            _ => return Err(ErrorKind::UnknownLabel.at(start.offset())),
        })
    }

    const fn is_deliver_only(&self) -> bool {
        matches!(
            self,
            Self::Deliver {
                answer: None,
                resolver: None,
                ..
            }
        )
    }

    /// Whether the operation has a form in this dialect.
    pub const fn fits(&self, dialect: Dialect) -> bool {
        match self {
            // The suite requires a resolver for every answer.
            Self::Deliver {
                answer: Some(_),
                resolver: None,
                ..
            } => !dialect.has_deliver_only(),
            Self::Listen { wants_partial, .. } => {
                !*wants_partial || dialect.has_partial_listeners()
            }
            Self::Get { .. } | Self::Index { .. } | Self::Untag { .. } => {
                dialect.has_data_operations()
            }
            _ => true,
        }
    }

    /// Appends the message in this dialect.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotInDialect`] unless [`fits`](Self::fits); duplicate hints of a location.
    #[inline]
    pub fn encode<C: Codec, B: Buffer>(&self, dialect: Dialect, out: &mut B) -> Result<(), Error> {
        self.write(&mut C::writer(out), dialect)
    }

    /// Writes the call of a resolver: `['fulfill value]` or `['break reason]`, which need not be a slice for it.
    pub(crate) fn write_settlement<W: Write>(
        writer: &mut W,
        dialect: Dialect,
        to: Target,
        outcome: Result<&[u8], &[u8]>,
    ) {
        let only = dialect.has_deliver_only();
        writer.begin_record(if only { DELIVER_ONLY } else { DELIVER });
        to.write(writer);
        writer.begin_list();
        writer.symbol(if outcome.is_ok() { FULFILL } else { BREAK });
        writer.raw(outcome.unwrap_or_else(|reason| reason));
        writer.end_list();
        if !only {
            writer.boolean(false);
            writer.boolean(false);
        }
        writer.end_record();
    }

    /// Like [`encode`](Self::encode), to a writer.
    #[inline]
    pub fn write<W: Write>(&self, writer: &mut W, dialect: Dialect) -> Result<(), Error> {
        if !self.fits(dialect) {
            return Err(ErrorKind::NotInDialect(dialect).at(0));
        }
        match self {
            Self::Deliver {
                to,
                arguments,
                answer,
                resolver,
            } => {
                let only = dialect.has_deliver_only() && self.is_deliver_only();
                writer.begin_record(if only { DELIVER_ONLY } else { DELIVER });
                to.write(writer);
                writer.raw(arguments);
                if !only {
                    match answer {
                        Some(position) => writer.integer(*position),
                        None => writer.boolean(false),
                    }
                    match resolver {
                        Some(resolver) => resolver.write(writer),
                        None => writer.boolean(false),
                    }
                }
            }
            Self::StartSession(start) => {
                writer.begin_record("op:start-session");
                writer.string(VERSION);
                start.key.write(writer);
                start.location.write(writer)?;
                start.signature.write(writer);
            }
            Self::Listen {
                to,
                resolver,
                wants_partial,
            } => {
                writer.begin_record("op:listen");
                to.write(writer);
                resolver.write(writer);
                if dialect.has_partial_listeners() {
                    writer.boolean(*wants_partial);
                }
            }
            Self::GcExports(exports) => {
                writer.begin_record(dialect.gc_labels().0);
                writer.begin_list();
                exports
                    .iter()
                    .for_each(|(position, _)| writer.integer(*position));
                writer.end_list();
                writer.begin_list();
                exports.iter().for_each(|(_, delta)| writer.integer(*delta));
                writer.end_list();
            }
            Self::GcAnswers(answers) => {
                writer.begin_record(dialect.gc_labels().1);
                writer.begin_list();
                answers
                    .iter()
                    .for_each(|position| writer.integer(*position));
                writer.end_list();
            }
            Self::Abort { reason } => {
                writer.begin_record("op:abort");
                writer.string(reason);
            }
            Self::Get {
                from,
                field,
                answer,
            } => {
                writer.begin_record("op:get");
                from.write(writer);
                writer.string(field);
                writer.integer(*answer);
            }
            Self::Index {
                from,
                index,
                answer,
            } => {
                writer.begin_record("op:index");
                from.write(writer);
                writer.integer(*index);
                writer.integer(*answer);
            }
            Self::Untag { from, tag, answer } => {
                writer.begin_record("op:untag");
                from.write(writer);
                writer.string(tag);
                writer.integer(*answer);
            }
        }
        writer.end_record();
        Ok(())
    }
}

/// What follows the recipient in an `op:deliver`.
pub(crate) struct Deliver<'a> {
    pub arguments: &'a [u8],
    pub answer: Option<u64>,
    pub resolver: Option<Import>,
}

impl<'a> Deliver<'a> {
    /// Enters an `op:deliver` or `op:deliver-only` and reads the recipient, if that comes next. Returns whether answer
    /// and resolver follow.
    #[inline]
    pub fn begin<R: Read<'a>>(reader: &mut R) -> Option<(Target, bool)> {
        let has_both = reader.try_begin_record(DELIVER);
        if !has_both && !reader.try_begin_record(DELIVER_ONLY) {
            return None;
        }
        Some((Target::read(reader).ok()?, has_both))
    }

    /// Reads to the end of the record, which starts at the offset `start`.
    #[inline]
    pub fn read<R: Read<'a>>(
        reader: &mut R,
        dialect: Dialect,
        start: usize,
    ) -> Result<Self, Error> {
        let deliver = Self {
            arguments: list(reader)?,
            answer: or_false(reader, R::integer)?,
            resolver: or_false(reader, Import::read)?,
        };
        // The suite requires a resolver for every answer, and has another form without both.
        if dialect.has_deliver_only() && deliver.resolver.is_none() {
            return Err(ErrorKind::NotInDialect(dialect).at(start));
        }
        reader.end_record()?;
        Ok(deliver)
    }

    /// Reads the arguments of a resolver. Returns whether they fulfil its promise, and the value or reason; `None` for
    /// other arguments.
    #[inline]
    pub fn read_outcome<R: Read<'a>>(reader: &mut R) -> Option<(bool, &'a [u8])> {
        reader.begin_list().ok()?;
        let is_fulfilled = match reader.symbol().ok()? {
            FULFILL => true,
            BREAK => false,
            _ => return None,
        };
        let value = reader.raw().ok()?;
        reader.end_list().ok()?;
        Some((is_fulfilled, value))
    }

    /// Reads an [outcome](Self::read_outcome) and to the end of the record, in the form of
    /// [`write_settlement`](Operation::write_settlement).
    #[inline]
    pub fn read_settlement<R: Read<'a>>(
        reader: &mut R,
        has_both: bool,
    ) -> Option<(bool, &'a [u8])> {
        let outcome = Self::read_outcome(reader)?;
        if has_both && !(reader.try_false() && reader.try_false()) {
            return None;
        }
        reader.end_record().ok()?;
        Some(outcome)
    }
}

/// Reads a list. Validates it and returns its encoding.
#[inline(always)]
fn list<'a, R: Read<'a>>(reader: &mut R) -> Result<&'a [u8], Error> {
    let mut inside = *reader;
    inside.begin_list()?;
    Ok(reader.raw()?)
}

/// Reads `f` as `None`, or a value with `read`.
#[inline(always)]
fn or_false<'a, R: Read<'a>, T, E>(
    reader: &mut R,
    read: impl FnOnce(&mut R) -> Result<T, E>,
) -> Result<Option<T>, Error>
where
    Error: From<E>,
{
    if reader.try_false() {
        return Ok(None);
    }
    Ok(Some(read(reader)?))
}

fn integers<'a, R: Read<'a>>(reader: &mut R) -> Result<Vec<u64>, Error> {
    let mut integers = Vec::new();
    reader.begin_list()?;
    while !reader.try_end_list() {
        integers.push(reader.integer()?);
    }
    Ok(integers)
}

macro_rules! descriptors {
    ($($type:ident { $($label:literal => $variant:ident),* })*) => {$(
        impl $type {
            /// Reads one of these descriptors.
            #[inline(always)]
            pub fn read<'a, R: Read<'a>>(reader: &mut R) -> Result<Self, Error> {
                let start = *reader;
                let descriptor = $(if reader.try_begin_record($label) {
                    Self::$variant(reader.integer()?)
                } else)* {
                    reader.begin_record()?;
                    return Err(ErrorKind::UnknownLabel.at(start.offset()));
                };
                reader.end_record()?;
                Ok(descriptor)
            }

            /// Appends the descriptor.
            #[inline(always)]
            pub fn write<W: Write>(&self, writer: &mut W) {
                match self {
                    $(Self::$variant(position) => {
                        writer.begin_record($label);
                        writer.integer(*position);
                    })*
                }
                writer.end_record();
            }
        }
    )*};
}
descriptors! {
    Target { "desc:export" => Export, "desc:answer" => Answer }
    Import { "desc:import-object" => Object, "desc:import-promise" => Promise }
}
