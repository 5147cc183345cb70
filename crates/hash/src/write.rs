//! `std::io::Write` for the streaming hashers: what is written is absorbed. Feature `std`.

use std::io::{Result, Write};

use crate::{Keccak256, Sha256};

macro_rules! write {
    ($($hasher:ty)*) => {$(
        /// Absorbs what is written. Never fails.
        impl Write for $hasher {
            #[inline]
            fn write(&mut self, data: &[u8]) -> Result<usize> {
                self.update(data);
                Ok(data.len())
            }

            #[inline]
            fn flush(&mut self) -> Result<()> {
                Ok(())
            }
        }
    )*};
}

write!(Keccak256 Sha256);

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::digest::Digest;
    use std::{io, vec::Vec};

    /// Copies from readers that end within a block.
    fn copy(hasher: &mut impl Write, data: &[u8]) -> Result<u64> {
        let (head, mut tail) = data.split_at(data.len() / 3);
        hasher.write_all(head)?;
        let copied = io::copy(&mut tail, hasher)?;
        hasher.flush()?;
        Ok(copied)
    }

    #[test]
    fn written_data_is_absorbed() -> Result<()> {
        let data: Vec<u8> = (0..20_000).map(|i| i as u8).collect();
        let (mut keccak, mut sha) = (Keccak256::new(), Sha256::new());
        assert_eq!(copy(&mut keccak, &data)?, 13_334);
        assert_eq!(copy(&mut sha, &data)?, 13_334);
        assert_eq!(keccak.finalize()[..], sha3::Keccak256::digest(&data)[..]);
        assert_eq!(sha.finalize()[..], sha2::Sha256::digest(&data)[..]);
        Ok(())
    }
}
