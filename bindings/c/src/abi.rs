//! ABI codecs for types and values given as text.

use lydite_core::{
    bytes::{B256, FixedBytes},
    evm::abi::{self, Codec, EventCodec, Type, Value},
};

use crate::{
    hash::decode,
    memory::{Output, array_mut, items, one, put, release, text},
    status::{LYDITE_ERROR_ENCODE, failure, guard, lydite_status},
};

/// An ABI type compiled for encoding and decoding. Immutable: any number of threads may use it at the same time.
pub struct lydite_codec {
    arguments: Type,
    codec: Codec,
}

/// Compile an ABI type.
///
/// "(address,uint256[])" is a list of arguments; a type without parentheses is a single argument. Release *out with
/// lydite_codec_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_codec_new(
    types: *const u8,
    length: usize,
    out: *mut *mut lydite_codec,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        put(out, || {
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

/// Release a codec. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_codec_free(codec: *mut lydite_codec) {
    // SAFETY: the caller guarantees that codec is NULL or from lydite_codec_new, and is released only once.
    unsafe { release(codec) }
}

/// Encode arguments given as text.
///
/// Example: "(0x1111111111111111111111111111111111111111,[1,2],\"text\")". Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_codec_encode(
    codec: *const lydite_codec,
    values: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        let codec = one(codec, "codec")?;
        let encode = |error| failure(LYDITE_ERROR_ENCODE, error);
        let values =
            Value::parse(&codec.arguments, text(values, length, "values")?).map_err(encode)?;
        let Value::Tuple(values) = values else {
            return Err(failure(
                LYDITE_ERROR_ENCODE,
                "values: expected a list of arguments",
            ));
        };
        Output {
            out,
            capacity,
            written,
        }
        .copy(&codec.codec.encode(&values).map_err(encode)?)
    })
}

/// Decode arguments to text.
///
/// The text has the format that lydite_codec_encode reads, without a terminating NUL. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_codec_decode(
    codec: *const lydite_codec,
    data: *const u8,
    length: usize,
    out: *mut u8,
    capacity: usize,
    written: *mut usize,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
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

/// Compute the selector of a function or error. Writes 4 bytes to out.
///
/// The signature may be canonical or human-readable. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_selector(
    signature: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        *array_mut(out, "out")? =
            abi::selector(text(signature, length, "signature")?).map_err(decode)?;
        Ok(())
    })
}

/// Compute the first topic of an event. Writes 32 bytes to out.
///
/// The signature may be canonical or human-readable. Allocates temporarily.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_event_topic(
    signature: *const u8,
    length: usize,
    out: *mut u8,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        *array_mut(out, "out")? = abi::event_topic(text(signature, length, "signature")?)
            .map_err(decode)?
            .0;
        Ok(())
    })
}

/// An event signature compiled for decoding logs. Immutable: any number of threads may use it at the same time.
pub struct lydite_event(EventCodec);

/// Compile an event signature.
///
/// Example: "Transfer(address indexed from, address indexed to, uint256 value)". "event" may precede it, and
/// "anonymous" may follow it. Release *out with lydite_event_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_event_new(
    signature: *const u8,
    length: usize,
    out: *mut *mut lydite_event,
) -> lydite_status {
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
    guard(|| unsafe {
        put(out, || {
            let codec = EventCodec::parse(text(signature, length, "signature")?).map_err(decode)?;
            Ok(lydite_event(codec))
        })
    })
}

/// Release an event. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lydite_event_free(event: *mut lydite_event) {
    // SAFETY: the caller guarantees that event is NULL or from lydite_event_new, and is released only once.
    unsafe { release(event) }
}

/// Decode a log to text in the format of lydite_codec_decode: all parameters in order.
///
/// Each topic is 32 bytes. For an indexed parameter longer than a word, the log contains only its hash, and the result
/// is the 32 bytes of that hash. Allocates temporarily.
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
    // SAFETY: the caller upholds the header's contract: every pointer is NULL or valid for its length.
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
