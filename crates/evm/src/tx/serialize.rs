//! Transactions as the objects of JSON-RPC. Feature `serde`.
//!
//! Source: Ethereum execution APIs, schemas `TransactionSigned` and `GenericTransaction`.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use lydite_bytes::{Address, B256, Bytes, U256};
use lydite_curve::secp256k1::Signature;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, IgnoredAny, MapAccess, Visitor},
};

use super::{
    AccessListItem, Authorization, Field, Transaction, TransactionRequest, TransactionType,
    decode::split_v, quantity::Quantity,
};

impl From<TransactionType> for Quantity<u8> {
    fn from(kind: TransactionType) -> Self {
        Self(kind as u8)
    }
}

impl TryFrom<Quantity<u8>> for TransactionType {
    type Error = String;

    fn try_from(Quantity(number): Quantity<u8>) -> Result<Self, String> {
        Self::try_from(number).map_err(|_| format!("expected 0 to 4, found {number}"))
    }
}

/// Reads the value of the member `name`. `null` is like no value.
fn read<'de, T: Deserialize<'de>, A: MapAccess<'de>>(
    name: &'static str,
    value: &mut Option<T>,
    map: &mut A,
) -> Result<(), A::Error> {
    if value.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    let read = map.next_value();
    *value = read.map_err(|error| A::Error::custom(format_args!("{name}: {error}")))?;
    Ok(())
}

fn required<T, E: Error>(name: &'static str, value: Option<T>) -> Result<T, E> {
    value.ok_or_else(|| E::missing_field(name))
}

/// For structs whose fields are all optional.
fn optional<T, E>(_: &'static str, value: Option<T>) -> Result<Option<T>, E> {
    Ok(value)
}

/// Implements `Deserialize` for objects. Unlike those of the derived implementation, errors name the member. The member
/// after `|` is read if the first one is missing.
macro_rules! deserialize {
    ($($object:ident: $presence:ident { $($key:literal $(| $other:literal)? $name:ident: $type:ty,)* })*) => {$(
        impl<'de> Deserialize<'de> for $object {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Members;

                impl<'de> Visitor<'de> for Members {
                    type Value = $object;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$object, A::Error> {
                        $(let mut $name: [Option<$type>; 2] = [None, None];)*
                        while let Some(key) = map.next_key::<String>()? {
                            match key.as_str() {
                                $(
                                    $key => read($key, &mut $name[0], &mut map)?,
                                    $($other => read($other, &mut $name[1], &mut map)?,)?
                                )*
                                _ => {
                                    map.next_value::<IgnoredAny>()?;
                                }
                            }
                        }
                        $(let $name = $name.into_iter().flatten().next();)*
                        Ok($object { $($name: $presence($key, $name)?.into(),)* })
                    }
                }

                deserializer.deserialize_map(Members)
            }
        }
    )*};
}

deserialize! {
    AccessListItem: required {
        "address" address: Address,
        "storageKeys" storage_keys: Vec<B256>,
    }
    Authorization: required {
        "chainId" chain_id: U256,
        "address" address: Address,
        "nonce" nonce: Quantity<u64>,
        // Some clients also write `v`, which may then be 27 or 28.
        "yParity" | "v" y_parity: Quantity<u8>,
        "r" r: U256,
        "s" s: U256,
    }
}

/// Defines the object with all members of all types of transactions. The name of a field follows a member that signed
/// transactions of the types with this field must have.
macro_rules! object {
    ($($key:literal $name:ident: $type:ty $(, $field:ident)?;)*) => {
        #[derive(Default, Serialize)]
        struct Object {
            $(
                #[serde(rename = $key, skip_serializing_if = "Option::is_none")]
                $name: Option<$type>,
            )*
        }

        deserialize! { Object: optional { $($key $name: $type,)* } }

        impl Object {
            /// Returns the first member that a signed transaction of this type lacks.
            fn missing(&self, kind: TransactionType) -> Option<&'static str> {
                $($(
                    if kind.has(Field::$field) && self.$name.is_none() {
                        return Some($key);
                    }
                )?)*
                None
            }
        }
    };
}

object! {
    "type" kind: TransactionType;
    "chainId" chain_id: Quantity<u64>;
    "nonce" nonce: Quantity<u64>, Nonce;
    "gas" gas: Quantity<u64>, GasLimit;
    // The name of `gas` in ethers.
    "gasLimit" gas_limit: Quantity<u64>;
    "gasPrice" gas_price: Quantity<u128>, GasPrice;
    "maxPriorityFeePerGas" max_priority_fee_per_gas: Quantity<u128>, MaxPriorityFeePerGas;
    "maxFeePerGas" max_fee_per_gas: Quantity<u128>, MaxFeePerGas;
    // Written as `null` if the transaction creates a contract.
    "to" to: Option<Address>;
    "value" value: U256, Value;
    "input" input: Bytes, Data;
    // The older name of `input` in requests.
    "data" data: Bytes;
    "accessList" access_list: Vec<AccessListItem>;
    "maxFeePerBlobGas" max_fee_per_blob_gas: Quantity<u128>, MaxFeePerBlobGas;
    "blobVersionedHashes" blob_versioned_hashes: Vec<B256>, BlobVersionedHashes;
    "authorizationList" authorization_list: Vec<Authorization>, AuthorizationList;
    "yParity" y_parity: Quantity<u8>;
    "v" v: Quantity<u128>;
    "r" r: U256;
    "s" s: U256;
    "hash" hash: B256;
}

impl Object {
    /// Moves the members with other names to the usual ones.
    fn renamed(mut self) -> Result<Self, String> {
        rename("data", self.data.take(), "input", &mut self.input)?;
        rename("gasLimit", self.gas_limit.take(), "gas", &mut self.gas)?;
        Ok(self)
    }

    /// Returns the type of a request, which may lack it: that of the fees and lists given. Without any fee, it would be
    /// the legacy type by default, whose transactions may be valid on every chain.
    fn requested_kind(&self) -> Result<TransactionType, String> {
        let fee_market = self.max_fee_per_gas.is_some() || self.max_priority_fee_per_gas.is_some();
        if let Some(kind) = self.kind {
            Ok(kind)
        } else if !fee_market && self.gas_price.is_none() {
            Err("expected `type`, `gasPrice` or `maxFeePerGas`, found none of them".into())
        } else if self.authorization_list.is_some() {
            Ok(TransactionType::Eip7702)
        } else if self.blob_versioned_hashes.is_some() {
            Ok(TransactionType::Eip4844)
        } else if fee_market {
            Ok(TransactionType::Eip1559)
        } else if self.access_list.is_some() {
            Ok(TransactionType::Eip2930)
        } else {
            Ok(TransactionType::Legacy)
        }
    }
}

/// Moves the value of the member `other` to the member `name`.
fn rename<T: PartialEq>(
    other: &str,
    value: Option<T>,
    name: &str,
    target: &mut Option<T>,
) -> Result<(), String> {
    if value.is_some() && target.is_some() && value != *target {
        return Err(format!("`{name}` and `{other}` differ"));
    }
    *target = target.take().or(value);
    Ok(())
}

/// Reads and writes a type as an [`Object`].
macro_rules! as_object {
    ($($type:ty)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Object::from(self.clone()).serialize(serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let object = Object::deserialize(deserializer)?;
                object.renamed().and_then(Self::try_from).map_err(D::Error::custom)
            }
        }
    )*};
}
as_object!(TransactionRequest Transaction);

impl From<TransactionRequest> for Object {
    fn from(request: TransactionRequest) -> Self {
        let kind = request.kind;
        fn given<T>(kind: TransactionType, field: Field, value: T) -> Option<T> {
            kind.has(field).then_some(value)
        }
        let fee = |field, value| given(kind, field, Quantity(value));
        Self {
            kind: Some(kind),
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
            to: Some(request.to),
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
        let kind = object.requested_kind()?;
        if kind == TransactionType::Legacy
            && object.chain_id.is_none()
            && object.gas_price.is_none()
        {
            return Err(
                "missing field `chainId`, or `gasPrice` of a transaction for every chain".into(),
            );
        }
        let fee = |quantity: Option<Quantity<u128>>| quantity.map_or(0, |Quantity(value)| value);
        Ok(Self {
            kind,
            chain_id: object.chain_id.map(u64::from),
            nonce: object.nonce.ok_or("missing field `nonce`")?.into(),
            gas_price: fee(object.gas_price),
            max_priority_fee_per_gas: fee(object.max_priority_fee_per_gas),
            max_fee_per_gas: fee(object.max_fee_per_gas),
            gas_limit: object.gas.ok_or("missing field `gas`")?.into(),
            to: object.to.flatten(),
            value: object.value.unwrap_or_default(),
            data: object.input.unwrap_or_default(),
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
            hash: Some(hash),
            ..TransactionRequest::from(transaction).into()
        }
    }
}

impl TryFrom<Object> for Transaction {
    type Error = String;

    fn try_from(mut object: Object) -> Result<Self, String> {
        // A signed transaction without a type is older than EIP-2718.
        let kind = *object.kind.get_or_insert_default();
        if let Some(name) = object.missing(kind) {
            return Err(format!("missing field `{name}`"));
        }
        let (v, y_parity) = (object.v.take(), object.y_parity.take());
        let recovery_id = if kind == TransactionType::Legacy {
            let Quantity(v) = v.ok_or("missing field `v`")?;
            let (recovery_id, chain_id) =
                split_v(v).ok_or("v: expected 27, 28, or at least 35 with a chain id")?;
            // Some nodes also give their chain's id for transactions that are valid on every chain.
            let given = object.chain_id.take().map(u64::from);
            if given.zip(chain_id).is_some_and(|(given, own)| given != own) {
                return Err("chainId is not that of v".into());
            }
            object.chain_id = chain_id.map(Quantity);
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
            Some(hash) if hash != transaction.hash() => {
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

    /// Answers to `eth_getTransactionByHash`, one a type. Source: Ethereum execution APIs,
    /// `tests/eth_getTransactionByHash`, files `get-legacy-create`, `get-access-list`, `get-dynamic-fee`, `get-blob-tx`,
    /// `get-setcode-tx`.
    const ANSWERS: [&str; 5] = [
        r#"{"blockHash": "0xac5c61edb087a51279674fe01d5c1f65eac3fd8597f9bea215058e745df8088e", "blockNumber": "0x1",
            "from": "0x7435ed30a8b4aeb0877cef0c6e8cffe834eb865f", "gas": "0x131ec", "gasPrice": "0x342770c1", "hash":
            "0xbdb37c763e721bf1a0e94e0bc72db704110b2ccc6720713708744422a2cc95d6", "input":
            "0x600d380380600d6000396000f360004381526020014681526020014181526020014881526020014481526020013281526020013481526020016000f3",
            "nonce": "0x0", "to": null, "transactionIndex": "0x0", "value": "0x0", "type": "0x0", "chainId":
            "0xc72dd9d5e883e", "v": "0x18e5bb3abd10a0", "r":
            "0xdf95c12446d276292221a19cca4f3e678f113a412bf3845bd85dc5bb5bd87def", "s":
            "0x523b1712e2f5a7b421f5740d32f51fd33a525026a21fd89770a55480ad28732"}"#,
        r#"{"blockHash": "0xa6c4f972bc75b6fc4f6baa53789aa8f9e38ff1bb438f69a862089c093aa99c3b", "blockNumber": "0x18",
            "blockTimestamp": "0xf0", "from": "0x7435ed30a8b4aeb0877cef0c6e8cffe834eb865f", "gas": "0x186a0", "gasPrice":
            "0x1", "hash": "0xd82374da698cfacbf4bb58d7ab8444621517e2137c08b859c66e50e8927c7af6", "input":
            "0x0e394e7c8a2b32c9656d6974", "nonce": "0x4e", "to": "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df",
            "transactionIndex": "0x0", "value": "0x2", "type": "0x1", "accessList": [{"address":
            "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df", "storageKeys":
            ["0x0000000000000000000000000000000000000000000000000000000000000000",
            "0x95104e47e1982aba633477f377b1511396c3fe83600224bcb0c78949be705b33"]}], "chainId": "0xc72dd9d5e883e", "v":
            "0x1", "r": "0x6ecd9ea7e1958288a3a822eb9c22662c30a7696e364d5b219a164bafd9bc58d8", "s":
            "0x3fc5322f888fabe456b29bb2b0e829482d728500678627f564ee3aff184428c2", "yParity": "0x1"}"#,
        r#"{"blockHash": "0x00e18991cfec00caf9e897554cc21735412216f7f0048afc0b13616d76e88ff0", "blockNumber": "0x5",
            "from": "0x658bdf435d810c91414ec09147daa6db62406379", "gas": "0xea60", "gasPrice": "0x1ec7cd47",
            "maxFeePerGas": "0x1ec7cd47", "maxPriorityFeePerGas": "0x1f4", "hash":
            "0x54b25c11650dca0253ef7b91b5415680eea8dac54b029863e12db48908ad386c", "input":
            "0xa9059cbb0000000000000000000000000000000000000000000000000000000000000005000000000000000000000000000000000000000000000000000000000000000f",
            "nonce": "0x4", "to": "0x0000000000000000000000000000000000031ec7", "transactionIndex": "0x0", "value": "0x1",
            "type": "0x2", "accessList": [], "chainId": "0x539", "v": "0x1", "r":
            "0xf78ac25d29e299b67e858b64ba54ca7f10e60714a0396277df4ce1727f5f8f73", "s":
            "0x70bd40bbe85508ce983b1414293fec37a1115c63d3778a9e41789eb53b44ed77", "yParity": "0x1"}"#,
        r#"{"blockHash": "0x1732a5fe86d54098c431fa4fea34387b650e41dbff65ca554370028172fcdb6a", "blockNumber": "0x3",
            "from": "0x7435ed30a8b4aeb0877cef0c6e8cffe834eb865f", "gas": "0x186a0", "gasPrice": "0x281d620e",
            "maxFeePerGas": "0x281d620e", "maxPriorityFeePerGas": "0x1", "maxFeePerBlobGas": "0x20000", "hash":
            "0xb0ebf0d8fca6724d5111d0be9ac61f0e7bf174208e0fafcb653f337c72465b83", "input": "0xdc4c8669df128318656d6974",
            "nonce": "0x8", "to": "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df", "transactionIndex": "0x0", "value": "0x3",
            "type": "0x3", "accessList": [{"address": "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df", "storageKeys":
            ["0x0000000000000000000000000000000000000000000000000000000000000000",
            "0x462708a3c1cd03b21605715d090136df64e227f7e7792f74bb1bd7a8288f8801"]}], "chainId": "0xc72dd9d5e883e",
            "blobVersionedHashes": ["0x015a4cab4911426699ed34483de6640cf55a568afc5c5edffdcbd8bcd4452f68"], "v": "0x0",
            "r": "0x478385a47075dd6ba56300b623038052a6e4bb03f8cfc53f367712f1c1d3e7de", "s":
            "0x2f79ed9b154b0af2c97ddfc1f4f76e6c17725713b6d44ea922ca4c6bbc20775c", "yParity": "0x0"}"#,
        r#"{"blockHash": "0xe02dd6dfcd01b2afca0e56cd1d09535398be984b97b3e8be7bfba38ea17fc633", "blockNumber": "0x2d",
            "blockTimestamp": "0x1c2", "from": "0x7435ed30a8b4aeb0877cef0c6e8cffe834eb865f", "gas": "0xb3b0", "gasPrice":
            "0x56a6c99", "maxFeePerGas": "0x56a6c99", "maxPriorityFeePerGas": "0x1", "hash":
            "0x52936c0771a21d9835c6948bc04f7cb42bb5d4cbd88e4a31abd2673511173c68", "input": "0x", "nonce": "0x9b", "to":
            "0x0000000000000000000000000000000000000000", "transactionIndex": "0x1", "value": "0x0", "type": "0x4",
            "accessList": [], "chainId": "0xc72dd9d5e883e", "authorizationList": [{"chainId": "0xc72dd9d5e883e",
            "address": "0x58f8fe237b593c19546e1e758a2544561d04bfe0", "nonce": "0x0", "yParity": "0x1", "r":
            "0xec6caeb1b7071f1b3ae36aeaa7bf0eaecb8e006e83b3e50d792870ea95af4c59", "s":
            "0x1d1225f76d6faac3d904c0635193e83d3867c101b2e6f6c9bb7b1fdeeed923ab"}], "v": "0x0", "r":
            "0xbf57deff928f4f83c5b92e010248d56d2ae2d8211457edba656373b7713ff023", "s":
            "0x39bca6db7b6eb369f77068a9bff27ffaf88ade3ae1534d6c6d660e478087d1fe", "yParity": "0x0"}"#,
    ];

    /// Reads the transaction after changing one member; `null` removes it.
    fn changed(text: &str, member: &str, value: Value) -> Result<Transaction, String> {
        let mut object: Value = from_str(text).unwrap();
        match value {
            Value::Null => object.as_object_mut().unwrap().remove(member),
            value => object.as_object_mut().unwrap().insert(member.into(), value),
        };
        from_value(object).map_err(|error| error.to_string())
    }

    #[test]
    fn answers_of_a_node() {
        for (number, text) in ANSWERS.into_iter().enumerate() {
            let transaction: Transaction = from_str(text).unwrap();
            assert_eq!(transaction.kind() as usize, number);
            let mut answer: Value = from_str(text).unwrap();
            let members = answer.as_object_mut().unwrap();
            let from = members.remove("from").unwrap();
            assert_eq!(from, json!(transaction.sender().unwrap()));
            for member in [
                "blockHash",
                "blockNumber",
                "blockTimestamp",
                "transactionIndex",
            ] {
                members.remove(member);
            }
            // From type 2 on, the price that was paid.
            if number >= 2 {
                members.remove("gasPrice");
            }
            assert_eq!(json!(transaction), answer);

            // The hash may be missing; for type 0 also the type.
            let missing = |member| changed(text, member, Value::Null);
            assert_eq!(missing("hash"), Ok(transaction.clone()));
            assert_eq!(missing("type").is_ok(), number == 0);
            // Either of the two names of the parity is enough, if there are two.
            if number > 0 {
                assert_eq!(missing("v"), Ok(transaction.clone()));
                assert_eq!(missing("yParity"), Ok(transaction.clone()));
            }

            let request = TransactionRequest::from(transaction);
            assert_eq!(from_value(json!(request)).ok(), Some(request));
        }
        // A contract has no recipient: null or nothing.
        let created = from_str(ANSWERS[0]).unwrap();
        assert_eq!(changed(ANSWERS[0], "to", Value::Null), Ok(created));
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

    /// The signature of a legacy transaction that is valid on every chain does not include the chain id, which some
    /// nodes nevertheless give.
    #[test]
    fn before_eip_155() {
        let key = SecretKey::from_bytes(&[0x46; 32]).unwrap();
        let transaction = TransactionRequest::default().sign(&key).unwrap();
        let text = to_string(&transaction).unwrap();
        assert!(text.contains(r#""v":"0x1b""#) || text.contains(r#""v":"0x1c""#));
        assert!(!text.contains("chainId"), "{text}");
        assert_eq!(changed(&text, "chainId", json!("0x1")), Ok(transaction));
    }

    #[test]
    fn errors_name_the_member() {
        fn check(text: &str, member: &str, value: Value, expected: &str) {
            assert_eq!(changed(text, member, value).unwrap_err(), expected);
        }
        let legacy = [
            (
                "v",
                json!("0x1d"),
                "v: expected 27, 28, or at least 35 with a chain id",
            ),
            ("v", Value::Null, "missing field `v`"),
            ("r", Value::Null, "missing field `r`"),
            ("chainId", json!("0x2"), "chainId is not that of v"),
            ("nonce", json!("0xa"), "hash is not that of the transaction"),
            ("type", json!("0x5"), "type: expected 0 to 4, found 5"),
            (
                "type",
                json!("0x100"),
                "type: expected an integer of at most 8 bits",
            ),
            (
                "gas",
                json!("0x10000000000000000"),
                "gas: expected an integer of at most 64 bits",
            ),
            (
                "gas",
                json!(1),
                "gas: invalid type: integer `1`, expected a 0x-prefixed hexadecimal string",
            ),
            (
                "to",
                json!("0x12"),
                "to: expected 40 hexadecimal digits, found 2",
            ),
            ("data", json!("0x01"), "`input` and `data` differ"),
            (
                "maxFeePerGas",
                json!("0x1"),
                "max_fee_per_gas: not a field of transaction type 0",
            ),
        ];
        for (member, value, expected) in legacy {
            check(EIP_155, member, value, expected);
        }
        let parity = "yParity and v: expected both 0 or both 1";
        check(ANSWERS[2], "v", json!("0x2"), parity);
        check(ANSWERS[2], "yParity", json!("0x2"), parity);
        let to = "to: missing; this transaction type cannot create a contract";
        check(ANSWERS[3], "to", Value::Null, to);

        let items = |member, value| {
            let mut items: Value = from_str(ANSWERS[4]).unwrap();
            let mut items = items["authorizationList"].take();
            items[0][member] = value;
            changed(ANSWERS[4], "authorizationList", items).unwrap_err()
        };
        assert_eq!(
            items("nonce", Value::Null),
            "authorizationList: missing field `nonce`"
        );
        assert_eq!(
            items("yParity", json!("0x100")),
            "authorizationList: yParity: expected an integer of at most 8 bits"
        );
        assert_eq!(
            items("yParity", Value::Null),
            "authorizationList: missing field `yParity`"
        );
        // Of the fields of the type, only an access list and a recipient may be missing.
        for (number, text) in ANSWERS.into_iter().enumerate() {
            let Value::Object(members) = json!(from_str::<Transaction>(text).unwrap()) else {
                panic!("not an object")
            };
            let required = members.keys().map(String::as_str);
            for member in required.filter(|name| !["type", "hash", "v", "yParity"].contains(name)) {
                let expected = match member {
                    "chainId" if number == 0 => continue,
                    "to" if number <= 2 => continue,
                    "accessList" => continue,
                    "to" => to.into(),
                    "chainId" => "chain_id: missing".into(),
                    name => format!("missing field `{name}`"),
                };
                check(text, member, Value::Null, &expected);
            }
        }

        let list = json!([{"address": Address::ZERO}]);
        let missing = "accessList: missing field `storageKeys`";
        check(ANSWERS[4], "accessList", list, missing);

        // The deserializer adds its position once.
        let read = |text| from_str::<Transaction>(text).unwrap_err().to_string();
        assert_eq!(
            read(r#"{"gas": "0x1", "gas": "0x1"}"#),
            "duplicate field `gas` at line 1 column 20"
        );
        assert_eq!(
            read(r#"{"r": "0xz"}"#),
            "r: byte 2: expected a digit, found 0x7a at line 1 column 11"
        );
        assert_eq!(
            read("[]"),
            "invalid type: sequence, expected an object at line 1 column 0"
        );
    }

    /// The parity of an authorization has the name `yParity` or `v`. The first one wins: an answer in alloy's tests has
    /// parity 0 and `v` 27.
    #[test]
    fn authorizations() {
        let transaction: Transaction = from_str(ANSWERS[4]).unwrap();
        let read = |members: &str| {
            let text = ANSWERS[4].replacen(r#""yParity": "0x1""#, members, 1);
            from_str::<Transaction>(&text).unwrap()
        };
        assert_eq!(read(r#""v": "0x1""#), transaction);
        assert_eq!(read(r#""v": "0x1c", "yParity": "0x1""#), transaction);
    }

    #[test]
    fn types() {
        for number in 0..5u8 {
            let kind = TransactionType::try_from(number).unwrap();
            let text = format!("\"0x{number}\"");
            assert_eq!(to_string(&kind).unwrap(), text);
            assert_eq!(from_str::<TransactionType>(&text).unwrap(), kind);
        }
        let error = from_str::<TransactionType>(r#""0x5""#).unwrap_err();
        assert!(
            error.to_string().starts_with("expected 0 to 4, found 5"),
            "{error}"
        );
    }

    #[test]
    fn requests() {
        let read = |text: &str| from_str::<TransactionRequest>(text).unwrap();
        let types = [
            (r#""gasPrice": "0x1""#, TransactionType::Legacy),
            (
                r#""gasPrice": "0x1", "accessList": []"#,
                TransactionType::Eip2930,
            ),
            (r#""maxFeePerGas": "0x1""#, TransactionType::Eip1559),
            (
                r#""maxFeePerGas": "0x1", "blobVersionedHashes": []"#,
                TransactionType::Eip4844,
            ),
            (
                r#""maxFeePerGas": "0x1", "authorizationList": []"#,
                TransactionType::Eip7702,
            ),
            (
                r#""type": "0x2", "gasPrice": "0x1""#,
                TransactionType::Eip1559,
            ),
        ];
        for (members, kind) in types {
            let request = read(&format!(r#"{{"nonce": "0x0", "gas": "0x1", {members}}}"#));
            assert_eq!(request.kind, kind);
            let written = TransactionRequest {
                gas_price: 0,
                ..request.clone()
            };
            assert_eq!(read(&to_string(&written).unwrap()).kind, kind);
        }
        let request = read(
            r#"{"from": "0x00", "data": "0x0102", "gasLimit": "0x5208", "nonce": "0x7", "gasPrice": "0x1"}"#,
        );
        assert_eq!(request.data, Bytes::from([1, 2]));
        assert_eq!((request.gas_limit, request.nonce), (21_000, 7));
        assert_eq!(read(&to_string(&request).unwrap()), request);
        let request = TransactionRequest::default();
        assert_eq!(read(&to_string(&request).unwrap()), request);
    }

    /// Members without which a transaction could be signed by mistake are required.
    #[test]
    fn incomplete_requests() {
        let fee = "expected `type`, `gasPrice` or `maxFeePerGas`, found none of them";
        let chain = "missing field `chainId`, or `gasPrice` of a transaction for every chain";
        for (text, expected) in [
            (
                r#"{"gasPrice": "0x1", "gas": "0x1"}"#,
                "missing field `nonce`",
            ),
            (
                r#"{"gasPrice": "0x1", "nonce": "0x1"}"#,
                "missing field `gas`",
            ),
            (
                r#"{"gasPrice": "0x1", "gas": "0x1", "gasLimit": "0x2"}"#,
                "`gas` and `gasLimit` differ",
            ),
            (r#"{"nonce": "0x1", "gas": "0x1", "chainId": "0x1"}"#, fee),
            (r#"{"nonce": "0x1", "gas": "0x1", "gasPrice": null}"#, fee),
            (
                r#"{"nonce": "0x1", "gas": "0x1", "authorizationList": []}"#,
                fee,
            ),
            (r#"{"nonce": "0x1", "gas": "0x1", "type": "0x0"}"#, chain),
        ] {
            let error = from_str::<TransactionRequest>(text)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
        let complete = r#"{"nonce": "0x1", "gas": "0x1", "type": "0x0", "chainId": "0x1"}"#;
        assert!(from_str::<TransactionRequest>(complete).is_ok());
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
