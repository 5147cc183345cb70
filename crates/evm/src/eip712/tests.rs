//! Vectors: the example of EIP-712 with its intermediate values. The tests of the JSON form are in `json_tests.rs`.

#![allow(clippy::unwrap_used, clippy::panic)]

use alloc::{format, string::String, string::ToString, vec, vec::Vec};

use lydite_bytes::{Address, B256, Bytes, FixedBytes, I256, U256};
use lydite_hash::keccak256;
use proptest::prelude::*;

use super::*;
use crate::abi::{Int, Uint};

crate::typed_struct! {
    #[derive(Clone, Debug)]
    pub(super) struct Person {
        pub(super) name: String,
        pub(super) wallet: Address,
    }

    #[derive(Clone, Debug)]
    pub(super) struct Mail {
        pub(super) from: Person,
        pub(super) to: Person,
        pub(super) contents: String,
    }

    /// One member of every kind.
    #[derive(Clone, Debug)]
    pub(super) struct Zoo {
        pub(super) yes: bool,
        pub(super) small as "uSmall": u8,
        pub(super) wide: u128,
        pub(super) odd: Uint<96>,
        pub(super) whole: U256,
        pub(super) negative: i64,
        pub(super) odd_negative as "oddNegative": Int<24>,
        pub(super) whole_negative as "$wholeNegative": I256,
        pub(super) four: FixedBytes<4>,
        pub(super) data: Bytes,
        pub(super) words: Vec<String>,
        pub(super) blobs: [Bytes; 2],
        pub(super) matrix: Vec<[u16; 3]>,
        pub(super) people: Vec<Person>,
        pub(super) letter: Mail,
        pub(super) absent: Option<Person>,
    }
}

pub(super) fn ether_mail() -> (Domain<'static>, Mail) {
    let domain = Domain {
        name: Some("Ether Mail"),
        version: Some("1"),
        chain_id: Some(U256::from(1u64)),
        verifying_contract: Some(
            "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC"
                .parse()
                .unwrap(),
        ),
        salt: None,
    };
    let person = |name: &str, wallet: &str| Person {
        name: name.into(),
        wallet: wallet.parse().unwrap(),
    };
    let mail = Mail {
        from: person("Cow", "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826"),
        to: person("Bob", "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB"),
        contents: "Hello, Bob!".into(),
    };
    (domain, mail)
}

/// All values that the specification's `Example.js` asserts.
#[test]
fn ether_mail_of_the_specification() {
    let (domain, mail) = ether_mail();
    assert_eq!(
        Mail::encode_type(),
        "Mail(Person from,Person to,string contents)Person(string name,address wallet)"
    );
    assert_eq!(
        Mail::type_hash().to_string(),
        "0xa0cedeb2dc280ba39b857546d74f5549c3a1d7bdc2dd96bf881f76108e23dac2"
    );
    mail.with_encoded_data(|data| {
        assert_eq!(
            lydite_bytes::hex::encode_prefixed(data),
            "0xa0cedeb2dc280ba39b857546d74f5549c3a1d7bdc2dd96bf881f76108e23dac2\
             fc71e5fa27ff56c350aa531bc129ebdf613b772b6604664f5d8dbe21b85eb0c8\
             cd54f074a4af31b4411ff6a60c9719dbd559c221c8ac3492d9d872b041d703d1\
             b5aadf3154a261abdd9086fc627b61efca26ae5702701d05cd2305f7c52a2fc8"
        );
    });
    assert_eq!(
        mail.hash_struct().to_string(),
        "0xc52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e"
    );
    assert_eq!(
        domain.encode_type(),
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    assert_eq!(
        domain.separator().to_string(),
        "0xf2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f"
    );
    let expected = "0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2";
    assert_eq!(
        signing_hash(&domain.separator(), &mail).to_string(),
        expected
    );
    assert_eq!(domain.signing_hash(&mail).to_string(), expected);
}

/// The signature of the specification's example, made with the key `keccak256("cow")`.
#[test]
fn ether_mail_signature() {
    let (domain, mail) = ether_mail();
    let key = lydite_curve::secp256k1::SecretKey::from_bytes(&keccak256(b"cow")).unwrap();
    let signature = key.sign_prehash(&domain.signing_hash(&mail).0);
    assert_eq!(
        lydite_bytes::hex::encode(signature.r()),
        "4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d"
    );
    assert_eq!(
        lydite_bytes::hex::encode(signature.s()),
        "07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b91562"
    );
    assert_eq!(signature.recovery_id(), 1);
}

#[test]
fn all_domain_types() {
    for present in 0..32u32 {
        let is = |bit: u32| present >> bit & 1 == 1;
        let domain = Domain {
            name: is(0).then_some("name"),
            version: is(1).then_some(""),
            chain_id: is(2).then_some(U256::MAX),
            verifying_contract: is(3).then_some(Address([3; 20])),
            salt: is(4).then_some(B256::from([4; 32])),
        };
        let fields = [
            "string name",
            "string version",
            "uint256 chainId",
            "address verifyingContract",
            "bytes32 salt",
        ];
        let words = [
            keccak256(b"name"),
            keccak256(b""),
            [0xff; 32],
            Address([3; 20]).into_word().0,
            [4; 32],
        ];
        let kept: Vec<usize> = (0..5).filter(|i| is(*i as u32)).collect();
        let names: Vec<&str> = kept.iter().map(|i| fields[*i]).collect();
        let encode_type = format!("EIP712Domain({})", names.join(","));
        assert_eq!(domain.encode_type(), encode_type);
        assert_eq!(domain.type_hash().0, keccak256(encode_type.as_bytes()));
        let mut data = vec![keccak256(encode_type.as_bytes())];
        data.extend(kept.iter().map(|i| words[*i]));
        assert_eq!(domain.separator().0, keccak256(data.as_flattened()));
    }
}

#[test]
fn member_names_and_types() {
    assert_eq!(
        Zoo::encode_type(),
        "Zoo(bool yes,uint8 uSmall,uint128 wide,uint96 odd,uint256 whole,int64 negative,int24 oddNegative,\
         int256 $wholeNegative,bytes4 four,bytes data,string[] words,bytes[2] blobs,uint16[3][] matrix,Person[] people,\
         Mail letter,Person absent)Mail(Person from,Person to,string contents)Person(string name,address wallet)"
    );
    assert_eq!(Zoo::type_hash().0, keccak256(Zoo::encode_type().as_bytes()));
}

#[test]
fn no_struct_is_the_zero_word() {
    let (_, mail) = ether_mail();
    assert_eq!(Some(mail.from.clone()).word(), mail.from.word());
    assert_eq!(None::<Person>.word(), [0; 32]);
}

#[test]
fn widths_are_checked() {
    let two_to = |bits: u32| U256::ONE << bits;
    assert!(Uint::<8>::new(U256::from(255u64)).is_some());
    assert!(Uint::<8>::new(U256::from(256u64)).is_none());
    assert!(Uint::<256>::new(U256::MAX).is_some());
    assert!(Int::<8>::new(I256::from(-128i64)).is_some());
    assert!(Int::<8>::new(I256::from(-129i64)).is_none());
    assert!(Int::<8>::new(I256::from(127i64)).is_some());
    assert!(Int::<8>::new(I256::from(128i64)).is_none());
    assert!(Int::<256>::new(I256::MIN).is_some());
    assert!(Int::<248>::new(I256(two_to(247))).is_none());
}

#[test]
fn batches_refuse_other_lengths() {
    let (_, mail) = ether_mail();
    let error = signing_hashes(&B256::default(), &[mail], &mut [[0; 32]; 2]).unwrap_err();
    assert_eq!(
        error,
        lydite_hash::keccak::Error::BatchLength {
            inputs: 1,
            outputs: 2
        }
    );
}

proptest! {
    #[test]
    fn batches_equal_single_hashes(contents in prop::collection::vec("\\PC{0,200}", 0..80)) {
        let (domain, mail) = ether_mail();
        let separator = domain.separator();
        let mails: Vec<Mail> = contents.into_iter().map(|contents| Mail { contents, ..mail.clone() }).collect();
        let mut hashes = vec![[0; 32]; mails.len()];
        signing_hashes(&separator, &mails, &mut hashes).unwrap();
        for (mail, hash) in mails.iter().zip(&hashes) {
            prop_assert_eq!(signing_hash(&separator, mail).0, *hash);
        }
        let words: Vec<[u8; 32]> = mails.iter().map(TypedValue::word).collect();
        prop_assert_eq!(mails.word(), keccak256(words.as_flattened()));
    }
}
