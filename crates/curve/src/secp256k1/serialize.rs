//! `serde` support: signatures and public keys are serialized as their `0x…` strings. Feature `serde`.

use lydite_bytes::deserialize_text;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{PublicKey, Signature};

macro_rules! as_text {
    ($($type:ty)*) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserialize_text(deserializer)
            }
        }
    )*};
}

as_text!(PublicKey Signature);

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use crate::secp256k1::SecretKey;
    use alloc::{format, string::ToString};
    use serde_json::{from_str, to_string};

    #[test]
    fn serialize_as_text() {
        // The public key of the secret key 1 is the generator, in the form of \[SEC2\] §2.4.1.
        let text = "\"0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\"";
        assert_eq!(to_string(&PublicKey::GENERATOR).unwrap(), text);
        assert_eq!(from_str::<PublicKey>(text).unwrap(), PublicKey::GENERATOR);

        let (r, s) = ("11".repeat(32), "22".repeat(32));
        for (recovery_id, v) in [(0, "1b"), (1, "1c"), (2, "02"), (3, "03")] {
            let signature = Signature::new([0x11; 32], [0x22; 32], recovery_id);
            let text = format!("\"0x{r}{s}{v}\"");
            assert_eq!(to_string(&signature).unwrap(), text);
            assert_eq!(from_str::<Signature>(&text).unwrap(), signature);
        }
        let key = SecretKey::from_bytes(&[0x46; 32]).unwrap();
        let both = (key.public_key(), key.sign_prehash(&[0x11; 32]));
        let text = to_string(&both).unwrap();
        assert_eq!(from_str::<(PublicKey, Signature)>(&text).unwrap(), both);
    }

    #[test]
    fn errors_keep_their_message() {
        let message = |text: &str| from_str::<PublicKey>(text).unwrap_err().to_string();
        assert!(message("\"0x02\"").starts_with("public key: expected 33 bytes"));
        let off_curve = format!("\"0x02{}05\"", "00".repeat(31));
        assert!(message(&off_curve).starts_with("public key is not on the curve"));
        assert!(message("2").starts_with("invalid type: integer `2`, expected a 0x-prefixed"));

        let message = |text: &str| from_str::<Signature>(text).unwrap_err().to_string();
        assert!(message("\"0x02\"").starts_with("signature: expected 65 bytes"));
        let v_4 = format!("\"0x{}04\"", "11".repeat(64));
        assert!(message(&v_4).starts_with("signature: recovery id or v is not valid"));
    }
}
