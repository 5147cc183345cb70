//! TLS of connections to `wss:` URLs.
use std::{
    io,
    sync::{Arc, OnceLock},
};

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::{
    ClientConfig, RootCertStore, crypto::ring::default_provider, pki_types::ServerName,
};

use crate::netlayer::Stream;

/// Starts TLS. The certificate has to be valid for the host, which is a name or an address.
pub async fn start(
    config: Option<Arc<ClientConfig>>,
    host: &str,
    stream: TcpStream,
) -> io::Result<Box<dyn Stream>> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
    let config = config.map_or_else(system, Ok)?;
    let stream = TlsConnector::from(config).connect(name, stream).await?;
    Ok(Box::new(stream))
}

/// Trusts the certificates that the system trusts, which are read once.
fn system() -> io::Result<Arc<ClientConfig>> {
    static CONFIG: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    if let Some(config) = CONFIG.get() {
        return Ok(config.clone());
    }
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let message = match found.errors.first() {
            Some(error) => format!("the system's certificates cannot be read: {error}"),
            None => "expected trusted certificates in the system, found none".into(),
        };
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    // Not the provider of the process, which has none unless the program selects one.
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(CONFIG.get_or_init(|| Arc::new(config)).clone())
}
