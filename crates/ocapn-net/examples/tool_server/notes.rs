//! The tool, and a weaker one in front of it.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lydite_ocapn_net::{Error, Ref, object};
use tokio::sync::Mutex;

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

/// A weaker tool: read-only, for a number of reads. Zero reads left revokes it.
pub struct ReadOnly(pub Ref<NotesApi>, pub Arc<AtomicU64>);

impl Notes for ReadOnly {
    async fn read(&self) -> Result<String, Error> {
        let one_less = |left: u64| left.checked_sub(1);
        match self.1.fetch_update(Relaxed, Relaxed, one_less) {
            Ok(_) => self.0.read().await,
            Err(_) => Err(Error::new("no reads left")),
        }
    }

    async fn write(&self, _: String) -> Result<String, Error> {
        Err(Error::new("these notes are read-only"))
    }
}
