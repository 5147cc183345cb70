//! The rows `hex_*`: hexadecimal digits without a prefix.

use crate::operation::{Op, array, negative, op};
use crate::output::Output;
use crate::reader::Reader;

/// Encoding and decoding. The arguments are generic, so that a library whose functions are generic gets arrays, whose
/// length the compiler knows.
pub trait Hex: Copy + 'static {
    /// Digits in memory that the library allocates.
    type Digits: Output + 'static;
    /// Decoded bytes in memory that the library allocates, or an error if the text is malformed.
    type Bytes: Output + 'static;

    /// Returns the lower-case digits of `bytes`.
    fn encode(&self, bytes: impl AsRef<[u8]>) -> Self::Digits;

    /// Writes the lower-case digits of `bytes` to `out`, which has exactly their number of bytes.
    fn encode_into(&self, bytes: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()>;

    /// Returns the bytes of digits in either case.
    fn decode(&self, text: impl AsRef<[u8]>) -> Self::Bytes;

    /// Writes the bytes of digits to `out`, which has exactly their number; `None` if the text is malformed.
    fn decode_into(&self, text: impl AsRef<[u8]>, out: &mut [u8]) -> Option<()>;
}

/// All rows.
pub fn ops<P: Hex>(peer: P) -> Vec<Op> {
    vec![
        array("hex_encode_32b", Reader::array::<32>)
            .raw()
            .call(move |bytes| peer.encode(bytes)),
        array("hex_encode_32b_into", Reader::array::<32>)
            .raw()
            .reuse(|| [0; 64], move |bytes, out| peer.encode_into(bytes, out)),
        array("hex_decode_32b", Reader::array::<64>)
            .raw()
            .call(move |text| peer.decode(text)),
        negative("hex_decode_32b", move |text| {
            peer.decode(text).write(&mut Vec::new())
        }),
        array("hex_decode_32b_into", Reader::array::<64>)
            .raw()
            .reuse(|| [0; 32], move |text, out| peer.decode_into(text, out)),
        op("hex_encode_1kb_into", Reader::array::<1024>)
            .raw()
            .reuse(|| [0; 2048], move |bytes, out| peer.encode_into(bytes, out)),
        op("hex_decode_1kb_into", Reader::array::<2048>)
            .raw()
            .reuse(|| [0; 1024], move |text, out| peer.decode_into(text, out)),
        op("hex_encode_1mb_into", Reader::whole).raw().reuse(
            || vec![0; 2 << 20],
            move |bytes, out| peer.encode_into(bytes, out),
        ),
        op("hex_decode_1mb_into", Reader::whole).raw().reuse(
            || vec![0; 1 << 20],
            move |text, out| peer.decode_into(text, out),
        ),
    ]
}
