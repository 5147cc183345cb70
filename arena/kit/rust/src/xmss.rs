//! Code that the adapters of XMSS share: key origins, signing with keys that are generated outside the clock, and
//! results of batches.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::operation::{Op, op};
use crate::output::{Output, Sum};
use crate::reader::Reader;

/// Seed, first epoch, number of epochs.
pub type Origin = (u64, u64, u64);

/// Reads a key origin.
pub fn origin(r: &mut Reader) -> Option<Origin> {
    Some((r.u64()?, r.u64()?, r.u64()?))
}

/// Reads a key origin and returns its key, which is generated once per type of key.
pub fn key<K: 'static>(
    r: &mut Reader,
    generate: impl Fn(Origin) -> Option<K>,
) -> Option<&'static K> {
    thread_local! {
        static KEPT: RefCell<HashMap<(TypeId, Origin), &'static dyn Any>> = RefCell::default();
    }
    let origin = origin(r)?;
    KEPT.with_borrow_mut(|kept| {
        let at = (TypeId::of::<K>(), origin);
        if let Entry::Vacant(entry) = kept.entry(at) {
            entry.insert(Box::leak(Box::new(generate(origin)?)));
        }
        kept.get(&at)?.downcast_ref()
    })
}

/// A row `xmss_sign_*`: `call` gets key, epoch and message, and returns the signature.
pub fn sign<K: 'static, O: Output + 'static>(
    name: &'static str,
    generate: impl Fn(Origin) -> Option<K> + Copy + 'static,
    call: impl Fn(&K, u32, &[u8; 32]) -> O + Copy + 'static,
) -> Op {
    op(name, move |r| {
        Some((key(r, generate)?, r.u32()?, r.array()?))
    })
    .change("le@-32", |(_, _, message), word| {
        message[..4].copy_from_slice(&word.to_le_bytes());
    })
    .call(move |(key, epoch, message)| call(key, *epoch, message))
}

/// The results of several verifications, one byte each: 1 if the signature is valid.
pub struct Verdicts(pub Vec<bool>);

impl Output for Verdicts {
    fn add(&self, sum: &mut Sum) {
        for eight in self.0.chunks(8) {
            let bits = eight.iter().rev();
            sum.word(bits.fold(0, |word, &valid| word << 8 | u64::from(valid)));
        }
    }

    fn write(&self, out: &mut Vec<u8>) -> bool {
        out.extend(self.0.iter().map(|&valid| u8::from(valid)));
        true
    }
}
