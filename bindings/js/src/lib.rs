//! The native half of the JavaScript package, for Node-API and for WebAssembly. It contains no logic.
//!
//! Both engines share one narrow interface. JavaScript and Rust exchange bytes through a *scratch* buffer: a call puts
//! its input there, passes lengths and numbers as up to three integers, and finds the output there. A negative result
//! is an error, described in the scratch buffer. So a call costs no more than passing integers, and Rust never touches
//! a JavaScript value. The public API on top of it is in `ts/`.

#[cfg(not(feature = "captp"))]
mod abi;
#[cfg(feature = "captp")]
mod captp;
#[cfg(not(feature = "captp"))]
mod ethereum;
mod failure;
#[cfg(not(feature = "captp"))]
mod hash;
#[cfg(feature = "captp")]
mod peer;
#[cfg(not(feature = "captp"))]
mod precompile;
#[cfg(not(feature = "captp"))]
mod rlp;
mod scratch;
#[cfg(not(feature = "captp"))]
mod secp256k1;
mod slots;
#[cfg(not(feature = "captp"))]
mod syrup;
mod syrup_tape;
// Both modules use a part of this.
#[cfg_attr(feature = "captp", allow(dead_code))]
mod tape;
#[cfg(not(feature = "captp"))]
mod xmss;
#[cfg(not(target_family = "wasm"))]
mod xmss_file;

#[cfg(not(target_family = "wasm"))]
mod napi;
#[cfg(target_family = "wasm")]
mod wasm;

use failure::Failure;
use scratch::State;

/// An operation that JavaScript calls: up to three numbers in, the length of the output, or a number, out. The
/// operations are documented as `input → output` of the scratch buffer.
pub type Operation = fn(&mut State, usize, usize, usize) -> Result<usize, Failure>;

/// Defines the exports of the module for CapTP.
#[cfg(feature = "captp")]
macro_rules! operations {
    ($export:ident) => {
        $export! {
            take = crate::scratch::take;
            start = crate::captp::start;
            enliven = crate::captp::enliven;
            call = crate::captp::call;
            send = crate::captp::send;
            get = crate::captp::get;
            index = crate::captp::index;
            listen = crate::captp::listen;
            watch = crate::captp::watch;
            isCongested = crate::captp::is_congested;
            release = crate::captp::release;
            object = crate::captp::object;
            publish = crate::captp::publish;
            resolve = crate::captp::resolve;
            challenge = crate::captp::challenge;
            accepted = crate::captp::accepted;
            answer = crate::captp::answer;
            dialed = crate::captp::dialed;
            dialFailed = crate::captp::dial_failed;
            received = crate::captp::received;
            isFull = crate::captp::is_full;
            frame = crate::captp::frame;
            closed = crate::captp::closed;
            tick = crate::captp::tick;
            output = crate::captp::output;
            event = crate::captp::event;
        }
    };
}

/// Defines the exports of one engine: `$export! { name = path; … }`.
#[cfg(not(feature = "captp"))]
macro_rules! operations {
    ($export:ident) => {
        $export! {
            take = crate::scratch::take;
            hexEncode = crate::hash::hex_encode;
            hexDecode = crate::hash::hex_decode;
            keccak256 = crate::hash::keccak256;
            keccak256Batch = crate::hash::keccak256_batch;
            sha256 = crate::hash::sha256;
            checksum = crate::hash::checksum;
            parseAddress = crate::hash::parse_address;
            createAddress = crate::hash::create_address;
            create2Address = crate::hash::create2_address;
            sign = crate::secp256k1::sign;
            signBatch = crate::secp256k1::sign_batch;
            recover = crate::secp256k1::recover;
            ecrecover = crate::secp256k1::ecrecover;
            ecrecoverBatch = crate::secp256k1::ecrecover_batch;
            verify = crate::secp256k1::verify;
            verifyBatch = crate::secp256k1::verify_batch;
            publicKey = crate::secp256k1::public_key;
            publicKeyBatch = crate::secp256k1::public_key_batch;
            publicKeyConvert = crate::secp256k1::public_key_convert;
            sharedSecret = crate::secp256k1::shared_secret;
            codecNew = crate::abi::codec_new;
            codecFree = crate::abi::codec_free;
            codecEncode = crate::abi::codec_encode;
            codecDecode = crate::abi::codec_decode;
            eventNew = crate::abi::event_new;
            eventFree = crate::abi::event_free;
            eventDecode = crate::abi::event_decode;
            eventDecodeBatch = crate::abi::event_decode_batch;
            selector = crate::abi::selector;
            eventTopic = crate::abi::event_topic;
            rlpEncode = crate::rlp::encode;
            rlpDecode = crate::rlp::decode;
            transactionDecode = crate::ethereum::transaction_decode;
            transactionSender = crate::ethereum::transaction_sender;
            transactionSenders = crate::ethereum::transaction_senders;
            transactionSign = crate::ethereum::transaction_sign;
            hashMessage = crate::ethereum::hash_message;
            typedData = crate::ethereum::typed_data;
            syrupEncode = crate::syrup::encode;
            syrupDecode = crate::syrup::decode;
            xmssVerify = crate::xmss::verify;
            xmssKeyFromSeed = crate::xmss::key_from_seed;
            xmssKeyFromBytes = crate::xmss::key_from_bytes;
            xmssKeyToBytes = crate::xmss::key_to_bytes;
            xmssKeyFree = crate::xmss::key_free;
            xmssKeyInfo = crate::xmss::key_info;
            xmssKeyPrepare = crate::xmss::key_prepare;
            xmssSign = crate::xmss::sign;
            #[cfg(not(target_family = "wasm"))]
            xmssFileCreate = crate::xmss_file::create;
            #[cfg(not(target_family = "wasm"))]
            xmssFileAdopt = crate::xmss_file::adopt;
            #[cfg(not(target_family = "wasm"))]
            xmssFileOpen = crate::xmss_file::open;
            #[cfg(not(target_family = "wasm"))]
            xmssFileFree = crate::xmss_file::free;
            #[cfg(not(target_family = "wasm"))]
            xmssFileInfo = crate::xmss_file::info;
            #[cfg(not(target_family = "wasm"))]
            xmssFilePrepare = crate::xmss_file::prepare;
            #[cfg(not(target_family = "wasm"))]
            xmssFilePrepareAhead = crate::xmss_file::prepare_ahead;
            #[cfg(not(target_family = "wasm"))]
            xmssFileSign = crate::xmss_file::sign;
            precompile = crate::precompile::run;
        }
    };
}
use operations;
