//! Transactions as the objects of JSON-RPC. Feature `serde`.
//!
//! Source: Ethereum execution APIs, schemas `TransactionSigned` and `GenericTransaction`.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use lydite_bytes::{Address, B256, Bytes, FixedBytes, U256};
use lydite_curve::secp256k1::Signature;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    AccessListItem, Authorization, Field, Transaction, TransactionRequest, TransactionType,
    view::split_v,
};

/// An integer of fewer than 256 bits as a quantity, for `#[serde(with = …)]`.
pub(super) mod quantity {
    use super::*;
    use serde::de::Error;

    pub(crate) fn serialize<T: Copy + Into<U256>, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        (*value).into().serialize(serializer)
    }

    pub(crate) fn deserialize<'de, T: TryFrom<u128>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let value = u128::try_from(U256::deserialize(deserializer)?).ok();
        value
            .and_then(|value| T::try_from(value).ok())
            .ok_or_else(|| {
                let bits = 8 * size_of::<T>();
                D::Error::custom(format!("expected an integer of at most {bits} bits"))
            })
    }
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(bound(serialize = "T: Copy + Into<U256>", deserialize = "T: TryFrom<u128>"))]
struct Quantity<T>(#[serde(with = "quantity")] T);

/// Defines the object with all members of all types of transactions.
macro_rules! object {
    ($($(#[$attribute:meta])* $name:ident: $type:ty,)*) => {
        #[derive(Default, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub(super) struct Object {
            /// `null` if the transaction creates a contract.
            to: Option<Address>,
            $(
                $(#[$attribute])*
                #[serde(skip_serializing_if = "Option::is_none")]
                $name: Option<$type>,
            )*
        }
    };
}

object! {
    #[serde(rename = "type")]
    kind: Quantity<u8>,
    chain_id: Quantity<u64>,
    nonce: Quantity<u64>,
    gas: Quantity<u64>,
    gas_price: Quantity<u128>,
    max_priority_fee_per_gas: Quantity<u128>,
    max_fee_per_gas: Quantity<u128>,
    value: U256,
    input: Bytes,
    // The older name of `input` in requests.
    data: Bytes,
    access_list: Vec<AccessListItem>,
    max_fee_per_blob_gas: Quantity<u128>,
    blob_versioned_hashes: Vec<B256>,
    authorization_list: Vec<Authorization>,
    y_parity: Quantity<u8>,
    v: Quantity<u128>,
    r: U256,
    s: U256,
    hash: B256,
}

impl Object {
    /// Returns the type, which old objects and requests may lack: that of the fees and lists given.
    fn kind(&self) -> Result<TransactionType, String> {
        Ok(match self.kind {
            Some(Quantity(number)) => TransactionType::try_from(number)
                .map_err(|_| format!("type: expected 0 to 4, found {number}"))?,
            None if self.authorization_list.is_some() => TransactionType::Eip7702,
            None if self.blob_versioned_hashes.is_some() => TransactionType::Eip4844,
            None if self.max_fee_per_gas.is_some() || self.max_priority_fee_per_gas.is_some() => {
                TransactionType::Eip1559
            }
            None if self.access_list.is_some() => TransactionType::Eip2930,
            None => TransactionType::Legacy,
        })
    }
}

impl From<TransactionRequest> for Object {
    fn from(request: TransactionRequest) -> Self {
        let kind = request.kind;
        fn given<T>(kind: TransactionType, field: Field, value: T) -> Option<T> {
            kind.has(field).then_some(value)
        }
        let fee = |field, value| given(kind, field, Quantity(value));
        Self {
            kind: Some(Quantity(kind as u8)),
            chain_id: request.chain_id.map(Quantity),
            nonce: Some(Quantity(request.nonce)),
            gas: Some(Quantity(request.gas_limit)),
            gas_price: fee(Field::GasPrice, request.gas_price),
            max_priority_fee_per_gas: fee(
                Field::MaxPriorityFeePerGas,
                request.max_priority_fee_per_gas,
            ),
            max_fee_per_gas: fee(Field::MaxFeePerGas, request.max_fee_per_gas),
            max_fee_per_blob_gas: fee(Field::MaxFeePerBlobGas, request.max_fee_per_blob_gas),
            to: request.to,
            value: Some(request.value),
            input: Some(request.data),
            access_list: given(kind, Field::AccessList, request.access_list),
            blob_versioned_hashes: given(
                kind,
                Field::BlobVersionedHashes,
                request.blob_versioned_hashes,
            ),
            authorization_list: given(kind, Field::AuthorizationList, request.authorization_list),
            ..Self::default()
        }
    }
}

impl TryFrom<Object> for TransactionRequest {
    type Error = String;

    fn try_from(object: Object) -> Result<Self, String> {
        if object.input.is_some() && object.data.is_some() && object.input != object.data {
            return Err("`input` and `data` differ".into());
        }
        let number = |quantity: Option<Quantity<u64>>| quantity.map_or(0, |Quantity(value)| value);
        let fee = |quantity: Option<Quantity<u128>>| quantity.map_or(0, |Quantity(value)| value);
        Ok(Self {
            kind: object.kind()?,
            chain_id: object.chain_id.map(|Quantity(value)| value),
            nonce: number(object.nonce),
            gas_price: fee(object.gas_price),
            max_priority_fee_per_gas: fee(object.max_priority_fee_per_gas),
            max_fee_per_gas: fee(object.max_fee_per_gas),
            gas_limit: number(object.gas),
            to: object.to,
            value: object.value.unwrap_or_default(),
            data: object.input.or(object.data).unwrap_or_default(),
            access_list: object.access_list.unwrap_or_default(),
            max_fee_per_blob_gas: fee(object.max_fee_per_blob_gas),
            blob_versioned_hashes: object.blob_versioned_hashes.unwrap_or_default(),
            authorization_list: object.authorization_list.unwrap_or_default(),
        })
    }
}

impl From<Transaction> for Object {
    fn from(transaction: Transaction) -> Self {
        let (v, hash) = (transaction.v(), transaction.hash());
        let signature = *transaction.signature();
        let typed = transaction.kind() != TransactionType::Legacy;
        Self {
            y_parity: typed.then_some(Quantity(signature.recovery_id())),
            v: Some(Quantity(v)),
            r: Some(U256::from_be_bytes(*signature.r())),
            s: Some(U256::from_be_bytes(*signature.s())),
            hash: Some(FixedBytes(hash)),
            ..TransactionRequest::from(transaction).into()
        }
    }
}

impl TryFrom<Object> for Transaction {
    type Error = String;

    fn try_from(mut object: Object) -> Result<Self, String> {
        let kind = object.kind()?;
        let (v, y_parity) = (object.v.take(), object.y_parity.take());
        let recovery_id = if kind == TransactionType::Legacy {
            let Quantity(v) = v.ok_or("missing field `v`")?;
            let (recovery_id, chain_id) =
                split_v(v).ok_or("v: expected 27, 28, or at least 35 with a chain id")?;
            let chain_id = chain_id.map(Quantity);
            if object.chain_id.is_some() && object.chain_id != chain_id {
                return Err("chainId is not that of v".into());
            }
            object.chain_id = chain_id;
            recovery_id
        } else {
            // Nodes also give the price that was paid.
            object.gas_price.take_if(|_| !kind.has(Field::GasPrice));
            let y_parity = y_parity.map(|Quantity(parity)| u128::from(parity));
            let v = v.map(|Quantity(v)| v);
            match y_parity.or(v) {
                Some(parity @ 0..=1) if v.is_none_or(|v| v == parity) => parity as u8,
                Some(_) => return Err("yParity and v: expected both 0 or both 1".into()),
                None => return Err("missing field `yParity`".into()),
            }
        };
        let r = object.r.ok_or("missing field `r`")?;
        let s = object.s.ok_or("missing field `s`")?;
        let hash = object.hash.take();
        let signature = Signature::new(r.to_be_bytes(), s.to_be_bytes(), recovery_id);
        let transaction = TransactionRequest::try_from(object)?
            .with_signature(signature)
            .map_err(|error| error.to_string())?;
        match hash {
            Some(hash) if hash.0 != transaction.hash() => {
                Err("hash is not that of the transaction".into())
            }
            _ => Ok(transaction),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use lydite_curve::secp256k1::SecretKey;
    use serde_json::{Value, from_str, from_value, json, to_string};

    use super::*;

    /// The example of EIP-155, as a node returns it.
    const EIP_155: &str = r#"{
        "blockHash": null, "blockNumber": null, "transactionIndex": null,
        "from": "0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f",
        "type": "0x0", "chainId": "0x1", "nonce": "0x9", "gas": "0x5208", "gasPrice": "0x4a817c800",
        "to": "0x3535353535353535353535353535353535353535", "value": "0xde0b6b3a7640000", "input": "0x",
        "v": "0x25",
        "r": "0x28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276",
        "s": "0x67cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83",
        "hash": "0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788"
    }"#;

    /// Reads the transaction after changing one member; `null` removes it.
    fn changed(text: &str, member: &str, value: Value) -> Result<Transaction, String> {
        let mut object: Value = from_str(text).unwrap();
        match value {
            Value::Null => object.as_object_mut().unwrap().remove(member),
            value => object.as_object_mut().unwrap().insert(member.into(), value),
        };
        from_value(object).map_err(|error| error.to_string())
    }

    /// A transaction of type 2 as an object, with the price paid as nodes return it.
    fn eip1559() -> String {
        let request = TransactionRequest {
            kind: TransactionType::Eip1559,
            chain_id: Some(1),
            max_fee_per_gas: 20,
            data: Bytes::from([1, 2]),
            ..TransactionRequest::default()
        };
        let key = SecretKey::from_bytes(&[0x46; 32]).unwrap();
        let text = to_string(&request.sign(&key).unwrap()).unwrap();
        text.replace("{\"to\"", "{\"gasPrice\":\"0x7\",\"to\"")
    }

    #[test]
    fn the_example_of_eip_155() {
        let transaction: Transaction = from_str(EIP_155).unwrap();
        let sender = transaction.sender().unwrap();
        assert_eq!(
            sender.to_string(),
            "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F"
        );
        assert_eq!(transaction.encode().len(), 110);
        let written: Value = from_str(&to_string(&transaction).unwrap()).unwrap();
        let mut expected: Value = from_str(EIP_155).unwrap();
        for member in ["blockHash", "blockNumber", "transactionIndex", "from"] {
            expected.as_object_mut().unwrap().remove(member);
        }
        assert_eq!(written, expected);
        // The type, the chain id and the hash may be missing.
        for member in ["type", "chainId", "hash"] {
            assert_eq!(
                changed(EIP_155, member, Value::Null),
                Ok(transaction.clone())
            );
        }
    }

    #[test]
    fn a_contract_has_no_recipient() {
        let text = eip1559();
        assert!(text.contains("\"to\":null"), "{text}");
        let transaction: Transaction = from_str(&text).unwrap();
        assert_eq!(changed(&text, "to", Value::Null), Ok(transaction.clone()));
        // Either of the two names of the parity is enough.
        for member in ["v", "yParity", "type"] {
            assert_eq!(changed(&text, member, Value::Null), Ok(transaction.clone()));
        }
    }

    #[test]
    fn errors_name_the_member() {
        let legacy = |member, value| changed(EIP_155, member, value).unwrap_err();
        assert_eq!(
            legacy("v", json!("0x1d")),
            "v: expected 27, 28, or at least 35 with a chain id"
        );
        assert_eq!(legacy("v", Value::Null), "missing field `v`");
        assert_eq!(legacy("r", Value::Null), "missing field `r`");
        assert_eq!(legacy("chainId", json!("0x2")), "chainId is not that of v");
        assert_eq!(legacy("v", json!("0x1b")), "chainId is not that of v");
        assert_eq!(
            legacy("nonce", json!("0xa")),
            "hash is not that of the transaction"
        );
        assert_eq!(
            legacy("type", json!("0x5")),
            "type: expected 0 to 4, found 5"
        );
        assert_eq!(
            legacy("type", json!("0x100")),
            "expected an integer of at most 8 bits"
        );
        let large = json!("0x10000000000000000");
        assert_eq!(
            legacy("gas", large),
            "expected an integer of at most 64 bits"
        );
        assert_eq!(legacy("data", json!("0x01")), "`input` and `data` differ");
        let foreign = "max_fee_per_gas: not a field of transaction type 0";
        assert_eq!(legacy("maxFeePerGas", json!("0x1")), foreign);

        let typed = |member, value| changed(&eip1559(), member, value).unwrap_err();
        let parity = "yParity and v: expected both 0 or both 1";
        assert_eq!(typed("v", json!("0x2")), parity);
        assert_eq!(typed("yParity", json!("0x2")), parity);
        assert!(typed("type", json!("0x3")).starts_with("to: "));
    }

    #[test]
    fn requests() {
        let read = |text: &str| from_str::<TransactionRequest>(text).unwrap();
        let types = [
            (r#"{"gasPrice": "0x1"}"#, TransactionType::Legacy),
            (
                r#"{"gasPrice": "0x1", "accessList": []}"#,
                TransactionType::Eip2930,
            ),
            (r#"{"maxFeePerGas": "0x1"}"#, TransactionType::Eip1559),
            (r#"{"blobVersionedHashes": []}"#, TransactionType::Eip4844),
            (r#"{"authorizationList": []}"#, TransactionType::Eip7702),
            (
                r#"{"type": "0x2", "gasPrice": "0x1"}"#,
                TransactionType::Eip1559,
            ),
        ];
        for (text, kind) in types {
            let request = read(text);
            assert_eq!(request.kind, kind);
            let written = TransactionRequest {
                gas_price: 0,
                ..request.clone()
            };
            assert_eq!(read(&to_string(&written).unwrap()).kind, kind);
        }
        let request =
            read(r#"{"from": "0x00", "data": "0x0102", "gas": "0x5208", "nonce": "0x7"}"#);
        assert_eq!(request.data, Bytes::from([1, 2]));
        assert_eq!((request.gas_limit, request.nonce), (21_000, 7));
        assert_eq!(read(&to_string(&request).unwrap()), request);
    }

    #[test]
    fn a_signature_made_elsewhere() {
        let transaction: Transaction = from_str(EIP_155).unwrap();
        let signature = *transaction.signature();
        let request = TransactionRequest::from(transaction.clone());
        assert_eq!(request.clone().with_signature(signature), Ok(transaction));
        let request = TransactionRequest {
            max_fee_per_gas: 1,
            ..request
        };
        assert!(request.with_signature(signature).is_err());
    }
}
