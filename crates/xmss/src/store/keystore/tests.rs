#![allow(clippy::unwrap_used)]

use alloc::vec;

use chacha20::ChaCha12Rng;
use rand_core::SeedableRng as _;

use super::*;
use crate::{LeanSigTest, LeanVm, SignError};

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("lydite-keystore-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).unwrap();
        Self(folder)
    }

    fn keystore(&self) -> PathBuf {
        self.0.join("keystore.json")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const FAST: Kdf = Kdf::Scrypt { log_n: 4 };
const PASSWORD: &str = "𝔱𝔢𝔰𝔱𝔭𝔞𝔰𝔰𝔴𝔬𝔯𝔡🔑";

fn key() -> SecretKey<LeanVm> {
    SecretKey::from_seed(&[7; 32], 100..110, &()).unwrap()
}

fn create(path: &Path, kdf: Kdf, ranges: &[ReservedRange]) -> Result<(), StoreError> {
    let mut rng = ChaCha12Rng::from_seed([1; 32]);
    KeyFile::create_keystore(path, &key(), PASSWORD, kdf, ranges, &mut rng)
}

fn open(path: &Path, range: Option<&str>) -> Result<KeyFile<LeanVm>, StoreError> {
    KeyFile::open_keystore(path, PASSWORD, range, &())
}

fn range(id: &str, epochs: Range<u64>) -> ReservedRange {
    let id = id.to_string();
    ReservedRange { id, epochs }
}

/// Rewrites a keystore.
fn edit(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
}

#[test]
fn a_keystore_signs_like_its_key_and_each_epoch_once() {
    for (i, kdf) in [FAST, Kdf::Pbkdf2 { rounds: 3 }].into_iter().enumerate() {
        let folder = Folder::new(&format!("sign-{i}"));
        let path = folder.keystore();
        create(&path, kdf, &[]).unwrap();
        assert!(matches!(
            create(&path, kdf, &[]),
            Err(StoreError::Exists(_))
        ));
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&hex(&[7; 32])));
        for epoch in [100, 104] {
            let mut file = open(&path, None).unwrap();
            assert!(matches!(open(&path, None), Err(StoreError::InUse(_))));
            let signature = file.sign(epoch, &[1; 32]).unwrap();
            assert_eq!(signature, key().sign(epoch, &[1; 32]).unwrap());
            assert!(matches!(
                file.sign(epoch, &[2; 32]),
                Err(StoreError::Spent { .. })
            ));
        }
        let mut file = open(&path, None).unwrap();
        assert_eq!(file.unspent(), 105..110);
        assert!(matches!(
            file.sign(103, &[1; 32]),
            Err(StoreError::Spent { .. })
        ));
        let outside = file.sign(110, &[1; 32]);
        assert!(matches!(
            outside,
            Err(StoreError::Sign(SignError::NotActive { .. }))
        ));
        // The keystore itself did not change.
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let recovered = recover::<LeanVm, _>(&path, PASSWORD, &()).unwrap();
        assert_eq!(recovered.as_bytes(), key().as_bytes());
        // NFKD: the same password in plain letters.
        let plain = "testpassword🔑";
        assert!(recover::<LeanVm, _>(&path, plain, &()).is_ok());
    }
}

#[test]
fn without_its_record_or_with_an_older_one_a_keystore_does_not_sign() {
    let folder = Folder::new("record");
    let path = folder.keystore();
    create(&path, FAST, &[]).unwrap();
    let record = record_path(&path, None);
    let old = fs::read(&record).unwrap();
    open(&path, None).unwrap().sign(105, &[1; 32]).unwrap();
    edit(&path, |value| value["state"]["high_water"] = 105.into());
    assert_eq!(open(&path, None).unwrap().unspent(), 106..110);
    // A backup of the record.
    fs::write(&record, old).unwrap();
    let regressed = open(&path, None);
    assert!(matches!(
        regressed,
        Err(StoreError::Regressed {
            next: 100,
            high_water: 105
        })
    ));
    fs::remove_file(&record).unwrap();
    assert!(matches!(open(&path, None), Err(StoreError::NoRecord(_))));
    let adopt = |next| KeyFile::<LeanVm>::adopt_keystore(&path, PASSWORD, None, next, &());
    assert!(matches!(adopt(105), Err(StoreError::Regressed { .. })));
    adopt(107).unwrap();
    assert!(matches!(adopt(108), Err(StoreError::Exists(_))));
    assert_eq!(open(&path, None).unwrap().unspent(), 107..110);
    // The record of another key.
    let other = folder.0.join("other.json");
    let key = SecretKey::<LeanVm>::from_seed(&[8; 32], 100..110, &()).unwrap();
    let mut rng = ChaCha12Rng::from_seed([2; 32]);
    KeyFile::create_keystore(&other, &key, PASSWORD, FAST, &[], &mut rng).unwrap();
    fs::copy(record_path(&other, None), &record).unwrap();
    assert!(matches!(open(&path, None), Err(StoreError::BadRecord(_))));
}

#[test]
fn reserved_ranges_are_signed_apart() {
    let folder = Folder::new("ranges");
    let path = folder.keystore();
    let ranges = [range("signer-a", 100..104), range("b", 105..110)];
    for wrong in [
        vec![range("a", 100..104), range("b", 103..110)],
        vec![range("a", 100..104), range("a", 104..110)],
        vec![range("a", 99..104)],
        vec![range("a", 104..111)],
        vec![range("a", 104..104)],
        vec![range("../a", 100..104)],
        vec![range("", 100..104)],
    ] {
        let refused = create(&path, FAST, &wrong);
        assert!(matches!(
            refused,
            Err(StoreError::Keystore(_, KeystoreError::Range(_)))
        ));
        assert!(!path.exists());
    }
    create(&path, FAST, &ranges).unwrap();
    assert!(matches!(
        open(&path, None),
        Err(StoreError::Keystore(_, KeystoreError::Range(_)))
    ));
    assert!(matches!(
        open(&path, Some("c")),
        Err(StoreError::Keystore(_, KeystoreError::Range(_)))
    ));
    // Both may be open at the same time, each once.
    let (mut a, mut b) = (
        open(&path, Some("signer-a")).unwrap(),
        open(&path, Some("b")).unwrap(),
    );
    assert!(matches!(open(&path, Some("b")), Err(StoreError::InUse(_))));
    assert_eq!((a.unspent(), b.unspent()), (100..104, 105..110));
    b.sign(107, &[1; 32]).unwrap();
    a.sign(103, &[1; 32]).unwrap();
    for refused in [
        a.sign(104, &[1; 32]),
        a.sign(105, &[1; 32]),
        b.sign(110, &[1; 32]),
    ] {
        assert!(matches!(
            refused,
            Err(StoreError::Sign(SignError::NotActive { .. }))
        ));
    }
    assert!(matches!(
        b.sign(104, &[1; 32]),
        Err(StoreError::Spent { .. })
    ));
    assert_eq!((a.unspent(), b.unspent()), (104..104, 108..110));
}

#[test]
fn altered_keystores_are_refused() {
    let folder = Folder::new("altered");
    let path = folder.keystore();
    create(&path, FAST, &[]).unwrap();
    let good = fs::read_to_string(&path).unwrap();
    let wrong = KeyFile::<LeanVm>::open_keystore(&path, "other", None, &());
    assert!(matches!(
        wrong,
        Err(StoreError::Keystore(_, KeystoreError::Password))
    ));
    let foreign = KeyFile::<LeanSigTest>::open_keystore(&path, PASSWORD, None, &());
    assert!(matches!(
        foreign,
        Err(StoreError::Keystore(_, KeystoreError::Scheme))
    ));
    let pointers: [(&str, Value); 21] = [
        ("/version", 4.into()),
        ("/scheme/name", "lms".into()),
        ("/scheme/params/hash", "poseidon1".into()),
        ("/scheme/params/dimension", 46.into()),
        ("/scheme/params/target_sum", 200.into()),
        ("/scheme/params/index_mode", "counter".into()),
        ("/scheme/params/active_epochs", 11.into()),
        ("/scheme/params/active_epochs", u64::MAX.into()),
        ("/scheme/params/activation_epoch", 99.into()),
        ("/state/authoritative", true.into()),
        ("/state/authority", "embedded".into()),
        ("/pubkey", "00".into()),
        ("/crypto/kdf/function", "argon2id".into()),
        ("/crypto/kdf/params/n", (1_u64 << 40).into()),
        ("/crypto/kdf/params/n", 17.into()),
        ("/crypto/kdf/params/r", 9.into()),
        ("/crypto/cipher/function", "aes-128-ctr".into()),
        ("/crypto/cipher/params/iv", "00".into()),
        ("/crypto/cipher/message", "zz".into()),
        ("/crypto/cipher/message", hex(&[0; 48]).into()),
        ("/crypto/checksum/message", "".into()),
    ];
    for (pointer, value) in pointers {
        edit(&path, |keystore| {
            *keystore.pointer_mut(pointer).unwrap() = value
        });
        let refused = open(&path, None);
        assert!(
            matches!(refused, Err(StoreError::Keystore(..))),
            "{pointer}: {refused:?}"
        );
        fs::write(&path, &good).unwrap();
    }
    for length in 0..good.len() - 2 {
        let cut = parse::<LeanVm>(&good.as_bytes()[..length]);
        assert!(
            matches!(cut.err(), Some(KeystoreError::Json { .. })),
            "{length}"
        );
    }
    assert_eq!(open(&path, None).unwrap().unspent(), 100..110);
}
