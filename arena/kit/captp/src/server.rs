//! Shared parts of servers' objects.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use tokio::sync::{Notify, watch};

use crate::{START, digest};

/// The promise of `captp_fan_out`: one in each round. A call may wait for it before or after it is fulfilled, for
/// servers that start calls in any order.
#[derive(Debug, Default)]
pub struct Rounds(watch::Sender<Option<(u64, String)>>);

impl Rounds {
    /// The text of a round, which must be the current or the next one.
    pub async fn wait(&self, round: u64) -> Option<String> {
        let mut rounds = self.0.subscribe();
        let settled = rounds.wait_for(|last| last.as_ref().is_some_and(|(last, _)| *last == round));
        settled.await.ok()?.as_ref().map(|(_, text)| text.clone())
    }

    /// Sets the text of a round, and ends the round before.
    pub fn settle(&self, round: u64, text: String) {
        self.0.send_replace(Some((round, text)));
    }
}

/// Counts the objects of `captp_gc_storm`.
#[derive(Debug, Default)]
pub struct Counter {
    live: AtomicU64,
    /// Sum of the words of objects that were dropped.
    sum: AtomicU64,
    dropped: Notify,
}

/// The state of an object of `captp_gc_storm`. Its word is the digest of the text, plus the number of the object.
#[derive(Debug)]
pub struct Counted {
    word: u64,
    counter: Arc<Counter>,
}

impl Counter {
    /// Counts an object.
    pub fn count(self: &Arc<Self>, text: &str, number: u64) -> Counted {
        self.live.fetch_add(1, Relaxed);
        Counted {
            word: digest(START, text).wrapping_add(number),
            counter: self.clone(),
        }
    }

    /// Waits until all objects were dropped. Returns the sum of their words, and starts again.
    pub async fn dropped(&self) -> u64 {
        while self.live.load(Relaxed) > 0 {
            self.dropped.notified().await;
        }
        self.sum.swap(0, Relaxed)
    }
}

impl Counted {
    /// Its word.
    pub fn word(&self) -> u64 {
        self.word
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.counter.sum.fetch_add(self.word, Relaxed);
        if self.counter.live.fetch_sub(1, Relaxed) == 1 {
            self.counter.dropped.notify_one();
        }
    }
}
