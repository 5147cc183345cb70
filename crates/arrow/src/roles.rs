//! The columns of common tools' files, recognised by name.
//!
//! Sources: the schemas of cryo, hypersync, tiders, Amp, ethereum-etl (also AWS' and BigQuery's public data), xatu and
//! mempool-dumpster.

use std::fmt;

/// The contents of a column.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Number of the block.
    BlockNumber,
    /// Time of the block.
    BlockTimestamp,
    /// Hash of the transaction.
    TransactionHash,
    /// Position of the transaction in its block.
    TransactionIndex,
    /// Position of the log in its block.
    LogIndex,
    /// The contract that logged.
    Address,
    /// Number of the chain.
    ChainId,
    /// First topic of a log.
    Topic0,
    /// Second topic of a log.
    Topic1,
    /// Third topic of a log.
    Topic2,
    /// Fourth topic of a log.
    Topic3,
    /// All topics of a log, as a list.
    Topics,
    /// Data of a log.
    Data,
    /// Data of a call: selector and arguments.
    Input,
    /// The output of a call.
    Output,
    /// Signed transaction, as an EIP-2718 envelope.
    Raw,
    /// Sender of the transaction.
    From,
    /// Type of the transaction.
    Type,
    /// Nonce of the transaction.
    Nonce,
    /// Gas limit of the transaction.
    GasLimit,
    /// Wei per gas, for types 0 and 1.
    GasPrice,
    /// Maximum wei per gas.
    MaxFeePerGas,
    /// Maximum wei per gas above the base fee.
    MaxPriorityFeePerGas,
    /// Maximum wei per blob gas.
    MaxFeePerBlobGas,
    /// Recipient of the transaction.
    To,
    /// Wei sent.
    Value,
    /// Access list: structs of `address` and `storage_keys`.
    AccessList,
    /// Versioned hashes of the blobs.
    BlobVersionedHashes,
    /// Authorizations: structs of `chain_id`, `address`, `nonce`, `y_parity`, `r` and `s`.
    AuthorizationList,
    /// v of the signature, or the parity of y.
    V,
    /// r of the signature.
    R,
    /// s of the signature.
    S,
}

impl Role {
    /// All roles.
    pub const ALL: [Role; 32] = [
        Role::BlockNumber,
        Role::BlockTimestamp,
        Role::TransactionHash,
        Role::TransactionIndex,
        Role::LogIndex,
        Role::Address,
        Role::ChainId,
        Role::Topic0,
        Role::Topic1,
        Role::Topic2,
        Role::Topic3,
        Role::Topics,
        Role::Data,
        Role::Input,
        Role::Output,
        Role::Raw,
        Role::From,
        Role::Type,
        Role::Nonce,
        Role::GasLimit,
        Role::GasPrice,
        Role::MaxFeePerGas,
        Role::MaxPriorityFeePerGas,
        Role::MaxFeePerBlobGas,
        Role::To,
        Role::Value,
        Role::AccessList,
        Role::BlobVersionedHashes,
        Role::AuthorizationList,
        Role::V,
        Role::R,
        Role::S,
    ];

    /// The topics of a log in separate columns.
    pub const TOPICS: [Role; 4] = [Role::Topic0, Role::Topic1, Role::Topic2, Role::Topic3];

    /// The columns that identify a row.
    pub const IDENTITY: [Role; 7] = [
        Role::BlockNumber,
        Role::TransactionHash,
        Role::TransactionIndex,
        Role::LogIndex,
        Role::Address,
        Role::ChainId,
        Role::BlockTimestamp,
    ];

    /// Returns the names of columns with this role, in lower case. The first one is the name of the role.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::BlockNumber => &[
                "block_number",
                "block_num",
                "_block_num",
                "blocknumber",
                "block_n",
            ],
            Self::BlockTimestamp => &["block_timestamp", "timestamp", "block_time"],
            Self::TransactionHash => &["transaction_hash", "tx_hash", "transactionhash", "hash"],
            Self::TransactionIndex => &["transaction_index", "tx_index", "transactionindex"],
            Self::LogIndex => &["log_index", "logindex"],
            Self::Address => &["address", "contract_address", "contract"],
            Self::ChainId => &["chain_id", "chainid"],
            Self::Topic0 => &["topic0"],
            Self::Topic1 => &["topic1"],
            Self::Topic2 => &["topic2"],
            Self::Topic3 => &["topic3"],
            Self::Topics => &["topics"],
            Self::Data => &["data"],
            Self::Input => &["input", "action_input", "calldata", "data"],
            Self::Output => &["output", "result_output", "return_data"],
            Self::Raw => &["raw", "raw_tx", "rawtx", "raw_transaction", "rlp"],
            Self::From => &["from", "from_address"],
            Self::Type => &["type", "transaction_type", "tx_type", "txtype"],
            Self::Nonce => &["nonce"],
            Self::GasLimit => &["gas_limit", "gas"],
            Self::GasPrice => &["gas_price", "gasprice"],
            Self::MaxFeePerGas => &["max_fee_per_gas", "gasfeecap"],
            Self::MaxPriorityFeePerGas => &["max_priority_fee_per_gas", "gastipcap"],
            Self::MaxFeePerBlobGas => &["max_fee_per_blob_gas"],
            Self::To => &["to", "to_address"],
            Self::Value => &["value", "value_binary", "value_string"],
            Self::AccessList => &["access_list"],
            Self::BlobVersionedHashes => &["blob_versioned_hashes"],
            Self::AuthorizationList => &["authorization_list"],
            Self::V => &["v", "v_parity", "y_parity"],
            Self::R => &["r"],
            Self::S => &["s"],
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.names()[0])
    }
}
