//! Locations of peers and their objects, as records in messages and as text.
use alloc::{string::String, vec::Vec};
use core::{fmt, str::FromStr};

use super::codec::{Codec, Read, Write, label};
use super::{Dialect, Error, ErrorKind};
use crate::syrup::Kind;

/// `<ocapn-peer 'transport "designator" hints>`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer<'a> {
    /// How to connect: `onion`, `tcp-testing-only`, …
    pub transport: &'a str,
    /// The peer's name within the transport.
    pub designator: &'a str,
    /// Connection hints. `None` is `f` on the wire.
    pub hints: Option<Vec<(&'a str, &'a str)>>,
}

/// `<ocapn-sturdyref peer swiss>`: a reference to an object that outlives the session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sturdyref<'a> {
    /// The peer that holds the object.
    pub peer: Peer<'a>,
    /// The object's secret name at that peer.
    pub swiss: &'a [u8],
}

impl<'a> Peer<'a> {
    /// Whether both refer to the same peer. Hints are ignored.
    pub fn is_same(&self, other: &Peer<'_>) -> bool {
        (self.transport, self.designator) == (other.transport, other.designator)
    }

    /// Reads a peer.
    pub fn read<R: Read<'a>>(reader: &mut R) -> Result<Self, Error> {
        label(reader, "ocapn-peer")?;
        let (transport, designator) = (reader.symbol()?, reader.string()?);
        let offset = reader.offset();
        let hints = match reader.kind()? {
            Kind::Boolean if reader.boolean()? => {
                return Err(ErrorKind::Value(crate::syrup::ErrorKind::WrongType).at(offset));
            }
            Kind::Boolean => None,
            _ => Some(reader.strings()?),
        };
        reader.end_record()?;
        Ok(Self {
            transport,
            designator,
            hints,
        })
    }

    /// Appends the peer.
    pub fn write<W: Write>(&self, writer: &mut W) -> Result<(), Error> {
        writer.begin_record("ocapn-peer");
        writer.symbol(self.transport);
        writer.string(self.designator);
        match &self.hints {
            Some(hints) => writer.strings(hints)?,
            None => writer.boolean(false),
        }
        writer.end_record();
        Ok(())
    }
}

impl<'a> Sturdyref<'a> {
    /// Decodes `input`, which must be exactly one sturdyref.
    pub fn decode<C: Codec>(input: &'a [u8], dialect: Dialect) -> Result<Self, Error> {
        let mut reader = C::reader(input);
        let sturdyref = Self::read(&mut reader, dialect)?;
        reader.finish()?;
        Ok(sturdyref)
    }

    /// Reads a sturdyref.
    pub fn read<R: Read<'a>>(reader: &mut R, dialect: Dialect) -> Result<Self, Error> {
        label(reader, "ocapn-sturdyref")?;
        let peer = Peer::read(reader)?;
        let swiss = match dialect {
            Dialect::Draft202607 => reader.string()?.as_bytes(),
            _ => reader.bytes()?,
        };
        reader.end_record()?;
        Ok(Self { peer, swiss })
    }

    /// Appends the sturdyref. In the draft a swiss number is text, so one that is not UTF-8 has no form there.
    pub fn write<W: Write>(&self, writer: &mut W, dialect: Dialect) -> Result<(), Error> {
        let text = core::str::from_utf8(self.swiss);
        writer.begin_record("ocapn-sturdyref");
        self.peer.write(writer)?;
        match (dialect, text) {
            (Dialect::Draft202607, Ok(text)) => writer.string(text),
            (Dialect::Draft202607, Err(_)) => return Err(ErrorKind::NotInDialect(dialect).at(0)),
            _ => writer.bytes(self.swiss),
        }
        writer.end_record();
        Ok(())
    }
}

/// A peer or a sturdyref as text: `ocapn://designator.transport[/s/swiss][?hint=value&…]`. The transport follows the
/// last dot of the authority. In the swiss number and the hints, bytes other than letters, digits and
/// `-._~+=!$'()*,;:@` are percent-encoded.
///
/// ```
/// use lydite_ocapn::captp::Locator;
///
/// let locator: Locator = "ocapn://a2ef.tcp-testing-only/s/JadQ0++R?host=127.0.0.1&port=22045".parse()?;
/// assert_eq!(locator.transport, "tcp-testing-only");
/// assert_eq!(locator.swiss.as_deref(), Some(&b"JadQ0++R"[..]));
/// assert_eq!(locator.hints[1], ("port".into(), "22045".into()));
/// assert_eq!(locator.to_string().parse::<Locator>()?, locator);
/// # Ok::<(), lydite_ocapn::captp::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locator {
    /// The peer's name within the transport.
    pub designator: String,
    /// How to connect.
    pub transport: String,
    /// The secret name of an object, or `None` for the peer itself.
    pub swiss: Option<Vec<u8>>,
    /// Connection hints.
    pub hints: Vec<(String, String)>,
}

const SCHEME: &str = "ocapn://";

impl Locator {
    /// The peer. If there are no hints, `hints` is `None` (`f` on the wire).
    pub fn peer(&self) -> Peer<'_> {
        let hints = self
            .hints
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        Peer {
            transport: &self.transport,
            designator: &self.designator,
            hints: (!self.hints.is_empty()).then(|| hints.collect()),
        }
    }

    /// The sturdyref, if there is a swiss number.
    pub fn sturdyref(&self) -> Option<Sturdyref<'_>> {
        let swiss = self.swiss.as_deref()?;
        Some(Sturdyref {
            peer: self.peer(),
            swiss,
        })
    }
}

/// Whether the byte is written unescaped in a swiss number or a hint.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+=!$'()*,;:@".contains(&byte)
}

/// Whether the text is a valid transport, or a part of a designator between dots.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Decodes a percent-encoded part of a locator that starts at `offset`.
fn unescape(part: &str, offset: usize) -> Result<Vec<u8>, Error> {
    let (bytes, mut out, mut i) = (part.as_bytes(), Vec::with_capacity(part.len()), 0);
    while let Some(&byte) = bytes.get(i) {
        if byte == b'%' {
            let digit = |at: usize| {
                bytes
                    .get(at)
                    .and_then(|&digit| char::from(digit).to_digit(16))
            };
            let (Some(high), Some(low)) = (digit(i + 1), digit(i + 2)) else {
                return Err(ErrorKind::InvalidLocator.at(offset + i));
            };
            out.push((high << 4 | low) as u8);
            i += 3;
        } else if is_plain(byte) {
            out.push(byte);
            i += 1;
        } else {
            return Err(ErrorKind::InvalidLocator.at(offset + i));
        }
    }
    Ok(out)
}

fn escape(bytes: &[u8], f: &mut fmt::Formatter<'_>, plain: impl Fn(u8) -> bool) -> fmt::Result {
    for &byte in bytes {
        if plain(byte) {
            write!(f, "{}", char::from(byte))?;
        } else {
            write!(f, "%{byte:02X}")?;
        }
    }
    Ok(())
}

impl FromStr for Locator {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid =
            |part: &str| ErrorKind::InvalidLocator.at(part.as_ptr().addr() - text.as_ptr().addr());
        let rest = text.strip_prefix(SCHEME).ok_or(invalid(text))?;
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        let (authority, swiss) = match path.split_once('/') {
            Some((authority, path)) => (
                authority,
                Some(path.strip_prefix("s/").ok_or(invalid(path))?),
            ),
            None => (path, None),
        };
        let (designator, transport) = authority.rsplit_once('.').ok_or(invalid(authority))?;
        if !designator.split('.').all(is_name) {
            return Err(invalid(designator));
        }
        if !is_name(transport) {
            return Err(invalid(transport));
        }
        let offset = |part: &str| part.as_ptr().addr() - text.as_ptr().addr();
        let swiss = match swiss {
            Some("") => return Err(ErrorKind::InvalidLocator.at(SCHEME.len() + path.len())),
            Some(swiss) => Some(unescape(swiss, offset(swiss))?),
            None => None,
        };
        let text_of = |part: &str| {
            String::from_utf8(unescape(part, offset(part))?).map_err(|_| invalid(part))
        };
        let mut hints: Vec<(String, String)> = Vec::new();
        for hint in query.into_iter().flat_map(|query| query.split('&')) {
            let (name, value) = hint.split_once('=').ok_or(invalid(hint))?;
            let name = text_of(name)?;
            if name.is_empty() || hints.iter().any(|(other, _)| *other == name) {
                return Err(invalid(hint));
            }
            hints.push((name, text_of(value)?));
        }
        Ok(Self {
            designator: designator.into(),
            transport: transport.into(),
            swiss,
            hints,
        })
    }
}

impl fmt::Display for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{SCHEME}{}.{}", self.designator, self.transport)?;
        if let Some(swiss) = &self.swiss {
            f.write_str("/s/")?;
            escape(swiss, f, is_plain)?;
        }
        for (i, (name, value)) in self.hints.iter().enumerate() {
            f.write_str(if i == 0 { "?" } else { "&" })?;
            escape(name.as_bytes(), f, |byte| is_plain(byte) && byte != b'=')?;
            f.write_str("=")?;
            escape(value.as_bytes(), f, is_plain)?;
        }
        Ok(())
    }
}
