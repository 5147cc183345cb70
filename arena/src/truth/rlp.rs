//! Canonical RLP. Source: Yellow Paper, appendix B.

use anyhow::{Context as _, Result, bail, ensure};
use num_bigint::BigUint;

/// An RLP string.
pub fn text(bytes: &[u8]) -> Vec<u8> {
    match bytes {
        [byte @ 0..0x80] => vec![*byte],
        _ => [head(0x80, bytes.len()), bytes.to_vec()].concat(),
    }
}

/// An RLP integer: big-endian without leading zeros.
pub fn number(value: &BigUint) -> Vec<u8> {
    if *value == BigUint::ZERO {
        return text(&[]);
    }
    text(&value.to_bytes_be())
}

/// An RLP list of encoded items.
pub fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let payload = items.concat();
    [head(0xc0, payload.len()), payload].concat()
}

fn head(base: u8, len: usize) -> Vec<u8> {
    if len < 56 {
        return vec![base + len as u8];
    }
    let digits = BigUint::from(len).to_bytes_be();
    [vec![base + 55 + digits.len() as u8], digits].concat()
}

/// A decoded item.
pub enum Rlp<'a> {
    /// A string.
    Text(&'a [u8]),
    /// The encoded members of a list.
    List(&'a [u8]),
}

/// Decodes the first item of `data`, which must be canonical; returns it and the rest.
pub fn item(data: &[u8]) -> Result<(Rlp<'_>, &[u8])> {
    let (&tag, rest) = data.split_first().context("no item")?;
    if tag < 0x80 {
        return Ok((Rlp::Text(&data[..1]), rest));
    }
    let (list, short) = (tag >= 0xc0, usize::from(tag & 0x3f));
    let (len, rest) = if short < 56 {
        (short, rest)
    } else {
        let (digits, rest) = rest.split_at_checked(short - 55).context("short length")?;
        ensure!(digits[0] != 0, "leading zero in a length");
        let len: usize = BigUint::from_bytes_be(digits).try_into()?;
        ensure!(len >= 56, "long form of a short length");
        (len, rest)
    };
    let (content, rest) = rest.split_at_checked(len).context("short content")?;
    if list {
        return Ok((Rlp::List(content), rest));
    }
    ensure!(len != 1 || content[0] >= 0x80, "a byte with a length");
    Ok((Rlp::Text(content), rest))
}

/// The members of a list.
pub fn members<'a>(list: &Rlp<'a>) -> Result<Vec<Rlp<'a>>> {
    let &Rlp::List(mut payload) = list else {
        bail!("not a list")
    };
    let mut members = Vec::new();
    while !payload.is_empty() {
        let (member, rest) = item(payload)?;
        members.push(member);
        payload = rest;
    }
    Ok(members)
}
