//! Unix sockets in the file system.
use std::{
    io,
    path::{Path, PathBuf},
};

use lydite_ocapn::session::{Location, Proof};
use tokio::net::{UnixListener, UnixStream};

use super::{Future, Netlayer, Opened, hint};

/// The transport `unix`: sockets in the file system, whose permissions decide who may connect. Locations need the hint
/// `path`. It only connects to sockets in the folder of its own. Claimed locations are trusted: whoever may use the
/// folder can pretend to be another peer in it.
#[derive(Debug)]
pub struct Unix {
    listener: UnixListener,
    path: PathBuf,
    location: Location,
}

impl Unix {
    /// Listens at a path in the file system, which must not exist. The socket is removed at the end.
    ///
    /// # Errors
    ///
    /// The path cannot be bound, or is not UTF-8.
    pub fn bind(path: impl AsRef<Path>, designator: &str) -> io::Result<Self> {
        let path = path.as_ref().to_owned();
        let text = path.to_str().ok_or_else(|| {
            io::Error::new(io::ErrorKind::InvalidInput, "the path is not valid UTF-8")
        })?;
        Ok(Self {
            listener: UnixListener::bind(&path)?,
            location: Location {
                transport: "unix".into(),
                designator: designator.into(),
                hints: Some(vec![("path".into(), text.into())]),
            },
            path,
        })
    }
}

impl Drop for Unix {
    fn drop(&mut self) {
        // It may have been removed already.
        let _: io::Result<()> = std::fs::remove_file(&self.path);
    }
}

fn opened(stream: UnixStream) -> Opened {
    Opened {
        stream: Box::new(stream),
        proof: Proof::Trusted,
        address: None,
    }
}

impl Netlayer for Unix {
    fn location(&self) -> Location {
        self.location.clone()
    }

    fn dial(&self, location: Location) -> Future<'_, io::Result<Opened>> {
        Box::pin(async move {
            let path = Path::new(hint(&location, "path")?);
            if path.parent() != self.path.parent() {
                let message = "expected a socket in the folder of the own one";
                return Err(io::Error::new(io::ErrorKind::PermissionDenied, message));
            }
            Ok(opened(UnixStream::connect(path).await?))
        })
    }

    fn accept(&self) -> Future<'_, io::Result<Opened>> {
        Box::pin(async move { Ok(opened(self.listener.accept().await?.0)) })
    }
}
