//! Conversions from and to the types of alloy-consensus. Feature `alloy-consensus`.

use alloc::vec::Vec;

use alloy_consensus::{self as alloy, EthereumTxEnvelope, TxEip4844Variant};
use alloy_eips::{eip2930, eip7702};
use alloy_primitives::TxKind;
use lydite_bytes::{Address, U256};
use lydite_curve::secp256k1::{self, Signature};

use super::{
    AccessListItem, Authorization, Error, Signed, Transaction, TxEip1559, TxEip2930, TxEip4844,
    TxEip7702, TxLegacy,
};

impl From<eip2930::AccessListItem> for AccessListItem {
    fn from(item: eip2930::AccessListItem) -> Self {
        Self {
            address: item.address.into(),
            storage_keys: list(item.storage_keys),
        }
    }
}

impl From<AccessListItem> for eip2930::AccessListItem {
    fn from(item: AccessListItem) -> Self {
        Self {
            address: item.address.into(),
            storage_keys: list(item.storage_keys),
        }
    }
}

impl From<eip7702::SignedAuthorization> for Authorization {
    fn from(signed: eip7702::SignedAuthorization) -> Self {
        Self {
            chain_id: signed.chain_id.into(),
            address: signed.address.into(),
            nonce: signed.nonce,
            y_parity: signed.y_parity(),
            r: signed.r().into(),
            s: signed.s().into(),
        }
    }
}

impl From<Authorization> for eip7702::SignedAuthorization {
    fn from(authorization: Authorization) -> Self {
        let Authorization { y_parity, r, s, .. } = authorization;
        let unsigned = eip7702::Authorization {
            chain_id: authorization.chain_id.into(),
            address: authorization.address.into(),
            nonce: authorization.nonce,
        };
        Self::new_unchecked(unsigned, y_parity, r.into(), s.into())
    }
}

/// Converts the elements of a list, which alloy wraps if it is an access list.
fn list<T: Into<U>, U, L: From<Vec<U>>>(elements: impl Into<Vec<T>>) -> L {
    let elements = elements.into().into_iter();
    elements.map(T::into).collect::<Vec<U>>().into()
}

fn to_option(kind: TxKind) -> Option<Address> {
    kind.to().map(|address| Address(address.0.0))
}

fn to_kind(recipient: Option<Address>) -> TxKind {
    recipient.map(alloy_primitives::Address::from).into()
}

fn signature(theirs: &alloy_primitives::Signature) -> Signature {
    let (r, s) = (theirs.r().to_be_bytes(), theirs.s().to_be_bytes());
    Signature::new(r, s, theirs.v().into())
}

macro_rules! convert {
    ($($name:ident { $($field:ident)* } { $($special:ident: $to_ours:ident, $to_theirs:ident;)* })*) => {$(
        impl From<alloy::$name> for $name {
            fn from(theirs: alloy::$name) -> Self {
                Self {
                    $($field: theirs.$field.into(),)*
                    $($special: $to_ours(theirs.$special),)*
                    data: theirs.input.into(),
                }
            }
        }

        impl From<$name> for alloy::$name {
            fn from(ours: $name) -> Self {
                Self {
                    $($field: ours.$field.into(),)*
                    $($special: $to_theirs(ours.$special),)*
                    input: ours.data.into(),
                }
            }
        }

        /// Does not keep the hash, which alloy does not check.
        impl From<alloy::Signed<alloy::$name>> for Signed<$name> {
            fn from(theirs: alloy::Signed<alloy::$name>) -> Self {
                Self {
                    signature: signature(theirs.signature()),
                    transaction: theirs.strip_signature().into(),
                }
            }
        }

        /// Fails with [`Error::Signature`] if the recovery id is not 0 or 1. The hash is computed when required.
        impl TryFrom<Signed<$name>> for alloy::Signed<alloy::$name> {
            type Error = Error;

            fn try_from(ours: Signed<$name>) -> Result<Self, Error> {
                let y_is_odd = match ours.signature.recovery_id() {
                    id @ 0..=1 => id == 1,
                    _ => return Err(Error::Signature(secp256k1::Error::RecoveryId)),
                };
                let [r, s] = [ours.signature.r(), ours.signature.s()]
                    .map(|bytes| U256::from_be_bytes(*bytes).into());
                let signature = alloy_primitives::Signature::new(r, s, y_is_odd);
                Ok(Self::new_unhashed(ours.transaction.into(), signature))
            }
        }
    )*};
}

convert! {
    TxLegacy { chain_id nonce gas_price gas_limit value } {
        to: to_option, to_kind;
    }
    TxEip2930 { chain_id nonce gas_price gas_limit value } {
        to: to_option, to_kind;
        access_list: list, list;
    }
    TxEip1559 { chain_id nonce max_priority_fee_per_gas max_fee_per_gas gas_limit value } {
        to: to_option, to_kind;
        access_list: list, list;
    }
    TxEip4844 {
        chain_id nonce max_priority_fee_per_gas max_fee_per_gas gas_limit to value max_fee_per_blob_gas
    } {
        access_list: list, list;
        blob_versioned_hashes: list, list;
    }
    TxEip7702 { chain_id nonce max_priority_fee_per_gas max_fee_per_gas gas_limit to value } {
        access_list: list, list;
        authorization_list: list, list;
    }
}

/// Does not keep the hash, which alloy does not check.
impl From<EthereumTxEnvelope<alloy::TxEip4844>> for Transaction {
    fn from(envelope: EthereumTxEnvelope<alloy::TxEip4844>) -> Self {
        match envelope {
            EthereumTxEnvelope::Legacy(signed) => Self::Legacy(signed.into()),
            EthereumTxEnvelope::Eip2930(signed) => Self::Eip2930(signed.into()),
            EthereumTxEnvelope::Eip1559(signed) => Self::Eip1559(signed.into()),
            EthereumTxEnvelope::Eip4844(signed) => Self::Eip4844(signed.into()),
            EthereumTxEnvelope::Eip7702(signed) => Self::Eip7702(signed.into()),
        }
    }
}

/// From alloy's `TxEnvelope`. Fails with [`Error::Sidecar`] if the transaction has its blobs. Does not keep the hash,
/// which alloy does not check.
impl<T> TryFrom<EthereumTxEnvelope<TxEip4844Variant<T>>> for Transaction {
    type Error = Error;

    fn try_from(envelope: EthereumTxEnvelope<TxEip4844Variant<T>>) -> Result<Self, Error> {
        let envelope = envelope.try_map_eip4844(|variant| match variant {
            TxEip4844Variant::TxEip4844(transaction) => Ok(transaction),
            TxEip4844Variant::TxEip4844WithSidecar(_) => Err(Error::Sidecar),
        })?;
        Ok(envelope.into())
    }
}

/// To alloy's `TxEnvelope` and other types of blob transactions. Fails with [`Error::Signature`] if the recovery id is
/// not 0 or 1. The hash is computed when required.
impl<T: From<alloy::TxEip4844>> TryFrom<Transaction> for EthereumTxEnvelope<T> {
    type Error = Error;

    fn try_from(transaction: Transaction) -> Result<Self, Error> {
        Ok(match transaction {
            Transaction::Legacy(signed) => Self::Legacy(signed.try_into()?),
            Transaction::Eip2930(signed) => Self::Eip2930(signed.try_into()?),
            Transaction::Eip1559(signed) => Self::Eip1559(signed.try_into()?),
            Transaction::Eip4844(signed) => {
                Self::Eip4844(alloy::Signed::try_from(signed)?.convert())
            }
            Transaction::Eip7702(signed) => Self::Eip7702(signed.try_into()?),
        })
    }
}
