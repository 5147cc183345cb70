//! `lydite._native`: the Lydite crates as a Python module. Functions take and return bytes; the module has no logic.
//!
//! Inputs are `bytes` without a copy, or any object with a contiguous buffer of bytes, copied while the interpreter is
//! held, so that batches that release the interpreter never read memory that another thread may write.

mod abi;
mod arrow;
mod bulk;
mod captp;
mod data;
mod error;
mod hash;
mod integer;
mod precompile;
mod rlp;
mod secp256k1;
mod stream;
mod syrup;
mod transaction;
mod typed_data;
mod xmss;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use crate::captp;
    #[pymodule_export]
    use crate::{
        abi::{Codec, Event, event_topic, selector},
        arrow::{ArrowArray, ArrowEvent, arrow_call, arrow_uint256_sum},
        bulk::{decode_calls_file, decode_logs_file, input_files, senders_file},
        error::{
            DecodeError, EncodeError, KeyFileError, LyditeError, PrecompileError, SignatureError,
        },
        hash::{
            create_address, create2_address, keccak256, keccak256_batch, keccak256_rows,
            to_checksum_address,
        },
        precompile::precompile,
        rlp::{rlp_decode, rlp_encode},
        secp256k1::{
            ecrecover, ecrecover_batch, public_key, public_key_to_address, public_key_to_sec1,
            recover_public_key, sign, verify,
        },
        stream::{ArrowStream, decode_calls, decode_logs, recover_senders},
        syrup::{Float32, Record, Symbol, syrup_content_id, syrup_decode, syrup_encode},
        transaction::{Tx, senders, sign_transaction},
        typed_data::{TypedData, hash_message, hash_typed_data},
        xmss::{XmssKey, xmss_adopt, xmss_generate, xmss_verify, xmss_verify_batch},
    };
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // For `lydite.captp`: not in `__all__`, which the package re-exports.
        captp::add_types(module)?;
        let decode_error = module.getattr("DecodeError")?;
        decode_error.setattr("offset", module.py().None())?;
        decode_error.setattr("kind", module.py().None())
    }
}
