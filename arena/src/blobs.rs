//! The blobs file: how inputs and outputs travel between the driver and a contender.
//!
//! Layout: `(u32 little-endian length, bytes)*`, nothing before, between or after.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Writes `items` in order.
pub fn write<T: AsRef<[u8]>>(path: &Path, items: &[T]) -> Result<()> {
    let mut out = std::io::BufWriter::new(
        fs::File::create(path).with_context(|| format!("create {}", path.display()))?,
    );
    for item in items {
        let item = item.as_ref();
        out.write_all(&u32::try_from(item.len())?.to_le_bytes())?;
        out.write_all(item)?;
    }
    out.flush()?;
    Ok(())
}

/// Reads a whole file; the file is another program's output, so every length is checked.
pub fn read(path: &Path) -> Result<Vec<Vec<u8>>> {
    let data = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    parse(&data)
}

/// Splits the bytes of a blobs file.
pub fn parse(data: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut items = Vec::new();
    let mut rest = data;
    while let Some((head, tail)) = rest.split_first_chunk::<4>() {
        let len = u32::from_le_bytes(*head) as usize;
        if len > tail.len() {
            bail!(
                "byte {}: blob of {len} bytes, {} left",
                data.len() - rest.len(),
                tail.len()
            );
        }
        let (item, next) = tail.split_at(len);
        items.push(item.to_vec());
        rest = next;
    }
    if !rest.is_empty() {
        bail!("byte {}: cut off inside a length", data.len() - rest.len());
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn round_trip_and_hostile_lengths() {
        let bytes = [3, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0];
        assert_eq!(parse(&bytes).unwrap(), vec![vec![1, 2, 3], vec![]]);
        assert_eq!(parse(&[]).unwrap(), Vec::<Vec<u8>>::new());
        assert_eq!(
            parse(&[255, 255, 255, 255, 0]).unwrap_err().to_string(),
            "byte 0: blob of 4294967295 bytes, 1 left"
        );
        assert_eq!(
            parse(&[0, 0, 0, 0, 7]).unwrap_err().to_string(),
            "byte 4: cut off inside a length"
        );
    }
}
