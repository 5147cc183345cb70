//! The blobs file format, used for inputs and outputs exchanged between the driver and a contender.
//!
//! Layout: `(u32 little-endian length, bytes)*`, without any other bytes.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Writes `items` in order.
pub fn write<T: AsRef<[u8]>>(path: &Path, items: &[T]) -> Result<()> {
    fs::write(path, join(items)?).with_context(|| format!("write {}", path.display()))
}

/// Reads a whole file. It may come from another program, so every length is checked.
pub fn read(path: &Path) -> Result<Vec<Vec<u8>>> {
    let data = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    parse(&data)
}

/// Reads a file from an untrusted program: it must be a regular file, not a link, of at most `limit` bytes.
pub fn read_foreign(path: &Path, limit: u64) -> Result<Vec<Vec<u8>>> {
    let name = || {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut options = fs::OpenOptions::new();
    options.read(true);
    #[cfg(target_os = "linux")]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt as _;
        // Opening a FIFO would wait for a writer.
        options.custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    }
    let file = options
        .open(path)
        .with_context(|| format!("read {}", name()))?;
    let data = file.metadata().with_context(name)?;
    if !data.is_file() {
        bail!("{}: expected a regular file", name());
    }
    if data.len() > limit {
        bail!(
            "{}: expected at most {limit} bytes, found {}",
            name(),
            data.len()
        );
    }
    let mut bytes = Vec::new();
    file.take(limit)
        .read_to_end(&mut bytes)
        .with_context(name)?;
    parse(&bytes)
}

/// Concatenates items to the bytes of a blobs file.
pub fn join<T: AsRef<[u8]>>(items: &[T]) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for item in items {
        let item = item.as_ref();
        out.extend(u32::try_from(item.len())?.to_le_bytes());
        out.extend(item);
    }
    Ok(out)
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
