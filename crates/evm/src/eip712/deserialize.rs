//! Typed data as a parameter of `eth_signTypedData_v4`.

use alloc::{boxed::Box, string::String};

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;

use super::TypedData;

/// From the document as a JSON object, or as a string of JSON, which some wallets send. For serde_json, which keeps the
/// document's text.
///
/// ```
/// use lydite_evm::eip712::TypedData;
///
/// let parameters = r#"["0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826", {
///     "types": {"Vote": [{"name": "proposal", "type": "uint256"}]},
///     "primaryType": "Vote", "domain": {"name": "DAO"}, "message": {"proposal": 7}
/// }]"#;
/// let (_account, data): (String, TypedData) = serde_json::from_str(parameters)?;
/// assert_eq!(data.encode_type(), "Vote(uint256 proposal)");
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'de> Deserialize<'de> for TypedData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = Box::<RawValue>::deserialize(deserializer)?;
        let data = if document.get().starts_with('"') {
            let text: String = serde_json::from_str(document.get()).map_err(D::Error::custom)?;
            Self::from_json(&text)
        } else {
            Self::from_json(document.get())
        };
        data.map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use alloc::string::ToString as _;

    const DOCUMENT: &str = r#"{
        "types": {"Vote": [{"name": "proposal", "type": "uint256"}]},
        "primaryType": "Vote", "domain": {"chainId": 1},
        "message": {"proposal": 115792089237316195423570985008687907853269984665640564039457584007913129639935}
    }"#;

    #[test]
    fn objects_and_strings_equal_the_text() {
        let expected = TypedData::from_json(DOCUMENT).unwrap().signing_hash();
        let of =
            |json: &str| serde_json::from_str::<TypedData>(json).map(|data| data.signing_hash());
        assert_eq!(of(DOCUMENT).unwrap(), expected);
        assert_eq!(
            of(&serde_json::to_string(DOCUMENT).unwrap()).unwrap(),
            expected
        );
        let nested = alloc::format!("[{DOCUMENT}]");
        let nested: [TypedData; 1] = serde_json::from_str(&nested).unwrap();
        assert_eq!(nested[0].signing_hash(), expected);
    }

    #[test]
    fn errors_are_those_of_the_document() {
        let spoilt = DOCUMENT.replace("\"proposal\": 1", "\"proposal\": -1");
        let expected = TypedData::from_json(&spoilt).unwrap_err().to_string();
        for json in [spoilt.clone(), serde_json::to_string(&spoilt).unwrap()] {
            let error = serde_json::from_str::<TypedData>(&json).unwrap_err();
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
        for json in ["7", "null", "[]", "\"\""] {
            assert!(serde_json::from_str::<TypedData>(json).is_err(), "{json}");
        }
    }
}
