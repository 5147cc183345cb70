//! The kernels of the catalogue, by family: the functions that rows compute.

use std::fmt;

use serde::Deserialize;

/// Defines the kernels of each family with their names in the catalogue and in records.
macro_rules! kernels {
    ($($(#[doc = $doc:literal])* $family:literal: $kernels:ident { $($kernel:ident = $name:literal,)* })*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub enum $kernels {
                $(#[doc = concat!("`", $name, "`")] $kernel,)*
            }
        )*

        /// A kernel, parsed from its name in the catalogue.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
        #[serde(try_from = "String")]
        pub enum Kernel {
            $($(#[doc = $doc])* $kernels($kernels),)*
        }

        impl Kernel {
            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $($(Self::$kernels($kernels::$kernel) => $name,)*)*
                }
            }

            /// The name of its family.
            pub fn family(self) -> &'static str {
                match self {
                    $(Self::$kernels(_) => $family,)*
                }
            }
        }

        impl TryFrom<String> for Kernel {
            type Error = String;

            fn try_from(name: String) -> Result<Self, String> {
                match name.as_str() {
                    $($($name => Ok(Self::$kernels($kernels::$kernel)),)*)*
                    _ => Err(format!("unknown kernel `{name}`")),
                }
            }
        }
    };
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

kernels! {
    /// Hashes, addresses, hex, ABI, RLP, U256, transactions and EIP-712.
    "ethereum": Ethereum {
        Keccak256 = "keccak256", Keccak256Batch = "keccak256_batch", AddressDerivation = "address_derivation",
        AddressFromHex = "address_from_hex", ChecksumAddress = "checksum_address", HexEncode = "hex_encode",
        HexDecode = "hex_decode", AbiEncodeTransfer = "abi_encode_transfer", AbiEncodeStatic = "abi_encode_static",
        AbiEncodeDynamic = "abi_encode_dynamic", AbiEncodeRuntime = "abi_encode_runtime",
        AbiEncodeRuntimeStatic = "abi_encode_runtime_static", AbiEncodeRuntimeNested = "abi_encode_runtime_nested",
        AbiDecodeUint256 = "abi_decode_uint256", AbiDecodeDynamic = "abi_decode_dynamic",
        AbiDecodeDynamicStrict = "abi_decode_dynamic_strict", AbiDecodeRuntime = "abi_decode_runtime",
        AbiDecodeRuntimeStatic = "abi_decode_runtime_static", AbiDecodeRuntimeNested = "abi_decode_runtime_nested",
        RlpEncodeEip1559Tx = "rlp_encode_eip1559_tx", RlpEncodeEip1559TxTyped = "rlp_encode_eip1559_tx_typed",
        RlpDecodeU256 = "rlp_decode_u256", U256Add = "u256_add", U256Mul = "u256_mul", U256Div = "u256_div",
        U256Uniswapv2AmountOut = "u256_uniswapv2_amount_out", U256MulDiv = "u256_mulDiv",
        U256Uniswapv4Swap = "u256_uniswapv4_swap", TxHashEip1559 = "tx_hash_eip1559", TxDecode = "tx_decode",
        TxHash = "tx_hash", TxHashBatch = "tx_hash_batch", TxSender = "tx_sender",
        Eip712HashTypedData = "eip712_hash_typed_data", Eip712HashTypedDataCached = "eip712_hash_typed_data_cached",
        Eip712HashTypedDataPrepared = "eip712_hash_typed_data_prepared",
        Eip712HashTypedDataJson = "eip712_hash_typed_data_json",
    }

    /// Signatures, recovery, public keys and ECDH, single and in batches.
    "secp256k1": Secp256k1 {
        Sign = "secp256k1_sign", SignBatch = "secp256k1_sign_batch", SignRecover = "secp256k1_sign_recover",
        Recover = "secp256k1_recover", RecoverBatch = "secp256k1_recover_batch", Verify = "secp256k1_verify",
        VerifyBatch = "secp256k1_verify_batch", PublicKey = "secp256k1_public_key",
        PublicKeyBatch = "secp256k1_public_key_batch", Ecdh = "secp256k1_ecdh",
    }

    /// Encoders and decoders of Syrup.
    "syrup": Syrup {
        Encode = "syrup_encode", EncodeUnsorted = "syrup_encode_unsorted", Decode = "syrup_decode",
        DecodeOwned = "syrup_decode_owned", Walk = "syrup_walk", EncodeTypedSkill = "syrup_encode_typed_skill",
        EncodeTypedExport = "syrup_encode_typed_export", DecodeTypedSkill = "syrup_decode_typed_skill",
        DecodeTypedCaptp = "syrup_decode_typed_captp", DecodeTypedDeliver = "syrup_decode_typed_deliver",
        Cid = "syrup_cid", RoundtripStruct = "syrup_roundtrip_struct",
        RoundtripStructOwned = "syrup_roundtrip_struct_owned", RoundtripTree = "syrup_roundtrip_tree",
        Decimal = "syrup_decimal", Reencode = "syrup_reencode", Stream = "syrup_stream",
        StreamOwned = "syrup_stream_owned",
    }

    /// Direct calls of precompiles.
    "precompiles": Precompile {
        Ecrecover = "evm_ecrecover", Sha256 = "evm_sha256", Ripemd160 = "evm_ripemd160", Identity = "evm_identity",
        Modexp = "evm_modexp", Bn254Add = "evm_bn254_add", Bn254Mul = "evm_bn254_mul",
        Bn254Pairing = "evm_bn254_pairing", Blake2f = "evm_blake2f", Kzg = "evm_kzg", BlsG1Add = "evm_bls_g1add",
        BlsG2Add = "evm_bls_g2add", BlsG1Msm = "evm_bls_g1msm", BlsG2Msm = "evm_bls_g2msm",
        BlsPairing = "evm_bls_pairing", BlsMap = "evm_bls_map", P256Verify = "evm_p256verify",
    }

    /// Programs that call precompiles.
    "precompiles": Program {
        Report = "evm_report", Nobody = "evm_calls_nobody", Ecrecover = "evm_calls_ecrecover",
        Sha256 = "evm_calls_sha256_128", Ripemd160 = "evm_calls_ripemd160_128", Identity = "evm_calls_identity_128",
        Modexp32 = "evm_calls_modexp_32", Modexp256 = "evm_calls_modexp_256_65537", Bn254Add = "evm_calls_bn254_add",
        Bn254Mul = "evm_calls_bn254_mul", Bn254Pairing = "evm_calls_bn254_pairing_2",
        Blake2f = "evm_calls_blake2f_12", Kzg = "evm_calls_kzg", KzgFail = "evm_calls_kzg_fail",
        BlsG1Add = "evm_calls_bls_g1add", BlsG1Msm = "evm_calls_bls_g1msm_16", BlsG2Add = "evm_calls_bls_g2add",
        BlsG2Msm = "evm_calls_bls_g2msm_16", BlsPairing = "evm_calls_bls_pairing_2",
        BlsMapG1 = "evm_calls_bls_map_g1", BlsMapG2 = "evm_calls_bls_map_g2", P256Verify = "evm_calls_p256verify",
    }

    /// Generalized XMSS and the permutations in it.
    "xmss": Xmss {
        Poseidon1Width16 = "poseidon1_16", Poseidon1Width24 = "poseidon1_24", Poseidon2Width16 = "poseidon2_16",
        Poseidon2Width24 = "poseidon2_24", Prf = "xmss_prf", Keygen = "xmss_keygen", Report = "xmss_report",
        Sign = "xmss_sign", Verify = "xmss_verify", VerifyLeanvm = "xmss_verify_leanvm", Advance = "xmss_advance",
        Load = "xmss_load", Save = "xmss_save",
    }

    /// A node's work on a block.
    "block": Block {
        Senders = "block_senders", TransactionsRoot = "block_transactions_root", ReceiptsRoot = "block_receipts_root",
        Body = "block_body", Execution = "block_execution", Import = "block_import",
    }

    /// Decoders of the `ethereum` family, for languages in which summing an output costs more than computing it.
    "bindings": Bindings {
        AbiDecodeDynamic = "abi_decode_dynamic_heads", AbiDecodeRuntime = "abi_decode_runtime_heads",
    }

    /// Files of logs and of transactions.
    "bulk": Bulk {
        Transfers = "bulk_transfers", TransfersFile = "bulk_transfers_file", LogsFile = "bulk_logs_file",
        MixFile = "bulk_mix_file", TokensFile = "bulk_tokens_file", SendersFile = "bulk_senders_file",
        SendersColumns = "bulk_senders_columns", Orders = "bulk_orders", Calls = "bulk_calls",
        Checksums = "bulk_checksums", Decimals = "bulk_decimals", HexDecode = "bulk_hex_decode",
    }

    /// Calls to objects of another party.
    "captp": Captp {
        CoreEcho = "captp_core_echo", CoreOneway = "captp_core_oneway", Echo = "captp_echo",
        EchoHostile = "captp_echo_hostile", Echo300 = "captp_echo_300", Oneway = "captp_oneway", Chain = "captp_chain",
        FanOut = "captp_fan_out", GcStorm = "captp_gc_storm", Handoff = "captp_handoff", Setup = "captp_setup",
        Blob = "captp_blob",
    }
}
