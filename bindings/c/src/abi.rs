//! ABI codecs by type text, with values as text.

use lydite_core::{
    bytes::{B256, FixedBytes},
    evm::abi::{self, Codec, EventCodec, Type, Value},
};

use crate::{
    hash::decode,
    memory::{Output, array_mut, give, items, one, release, text},
    status::{LYDITE_ERROR_ENCODE, failure, guard, lydite_status},
};

/// A type compiled for encoding and decoding. Immutable: any number of threads may use it at once.
pub struct lydite_codec {
    arguments: Type,
    codec: Codec,
}

/// Compiles a type: "(address,uint256[])" is a list of arguments, a type without parentheses one argument. *out is to be
/// released with lydite_codec_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_codec_new(
    types: *const u8,
    length: usize,
    out: *mut *mut lydite_codec,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        give(out, || {
            let ty = Type::parse(text(types, length, "types")?).map_err(decode)?;
            let codec = Codec::new(&ty).map_err(decode)?;
            let arguments = match ty {
                Type::Tuple(_) => ty,
                other => Type::Tuple(vec![other]),
            };
            Ok(lydite_codec { arguments, codec })
        })
    })
}

/// Releases a codec. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_codec_free(codec: *mut lydite_codec) {
    // SAFETY: made by lydite_codec_new and released once, as the caller promises.
    unsafe { release(codec) }
}

/// Encodes arguments given as text: "(0x1111111111111111111111111111111111111111,[1,2],\"text\")". Allocates while it
/// runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_codec_encode(
    codec: *const lydite_codec,
    values: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let codec = one(codec, "codec")?;
        let encode = |error| failure(LYDITE_ERROR_ENCODE, error);
        let values =
            Value::parse(&codec.arguments, text(values, length, "values")?).map_err(encode)?;
        let Value::Tuple(values) = values else {
            return Err(failure(LYDITE_ERROR_ENCODE, "not a list of arguments"));
        };
        Output {
            out,
            capacity,
            written,
        }
        .copy(&codec.codec.encode(&values).map_err(encode)?)
    })
}

/// Decodes to the text that lydite_codec_encode reads, without NUL. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_codec_decode(
    codec: *const lydite_codec,
    data: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let values = one(codec, "codec")?
            .codec
            .decode(items(data, length, "data")?)
            .map_err(decode)?;
        Output {
            out,
            capacity,
            written,
        }
        .copy(Value::Tuple(values).to_string().as_bytes())
    })
}

/// The selector of a function or error by its signature, canonical or human-readable: 4 bytes. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_selector(
    signature: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        *array_mut(out, "out")? =
            abi::selector(text(signature, length, "signature")?).map_err(decode)?;
        Ok(())
    })
}

/// The first topic of an event by its signature, canonical or human-readable: 32 bytes. Allocates while it runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_event_topic(
    signature: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        *array_mut(out, "out")? = abi::event_topic(text(signature, length, "signature")?)
            .map_err(decode)?
            .0;
        Ok(())
    })
}

/// An event's signature compiled for decoding its logs. Immutable: any number of threads may use it at once.
pub struct lydite_event(EventCodec);

/// Compiles "Transfer(address indexed from, address indexed to, uint256 value)"; "event" may stand before it, "anonymous"
/// behind it. *out is to be released with lydite_event_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_event_new(
    signature: *const u8,
    length: usize,
    out: *mut *mut lydite_event,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        give(out, || {
            let codec = EventCodec::parse(text(signature, length, "signature")?).map_err(decode)?;
            Ok(lydite_event(codec))
        })
    })
}

/// Releases an event. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_event_free(event: *mut lydite_event) {
    // SAFETY: made by lydite_event_new and released once, as the caller promises.
    unsafe { release(event) }
}

/// Decodes a log, with topics of 32 bytes each, to text as lydite_codec_decode does: all parameters in their order. An
/// indexed parameter longer than a word is the 32 bytes of its hash, which is all that the log holds. Allocates while it
/// runs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_event_decode(
    event: *const lydite_event,
    topics: *const u8,
    topic_count: usize,
    data: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the header's contract.
    guard(|| unsafe {
        let lydite_event(codec) = one(event, "event")?;
        let topics: Vec<B256> = items::<[u8; 32]>(topics.cast(), topic_count, "topics")?
            .iter()
            .map(|topic| FixedBytes(*topic))
            .collect();
        let values = codec
            .decode(&topics, items(data, length, "data")?)
            .map_err(decode)?;
        Output {
            out,
            capacity,
            written,
        }
        .copy(Value::Tuple(values).to_string().as_bytes())
    })
}
