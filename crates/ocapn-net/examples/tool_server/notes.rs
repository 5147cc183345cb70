//! The tool, and a weaker one in front of it.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use lydite_ocapn_net::{Error, Ref, object};
use tokio::{sync::Mutex, time::Duration, time::Instant};

pub const SECOND: Duration = Duration::from_secs(1);

#[object]
pub trait Notes {
    async fn read(&self) -> Result<String, Error>;
    async fn write(&self, text: String) -> Result<String, Error>;
}

/// The tool itself: text that can be read and replaced.
#[derive(Default)]
pub struct Pad(Mutex<String>);

impl Notes for Pad {
    async fn read(&self) -> Result<String, Error> {
        Ok(self.0.lock().await.clone())
    }

    async fn write(&self, text: String) -> Result<String, Error> {
        self.0.lock().await.clone_from(&text);
        Ok(text)
    }
}

/// A weaker tool: read-only, for a number of reads a second. Zero revokes it. The last field has the times of the reads
/// within the last second.
pub struct ReadOnly(
    pub Ref<NotesApi>,
    pub Arc<AtomicUsize>,
    pub Mutex<Vec<Instant>>,
);

impl Notes for ReadOnly {
    async fn read(&self) -> Result<String, Error> {
        let mut reads = self.2.lock().await;
        reads.retain(|time| time.elapsed() < SECOND);
        if reads.len() >= self.1.load(Relaxed) {
            return Err(Error::new("no reads left"));
        }
        reads.push(Instant::now());
        drop(reads);
        self.0.read().await
    }

    async fn write(&self, _: String) -> Result<String, Error> {
        Err(Error::new("these notes are read-only"))
    }
}
