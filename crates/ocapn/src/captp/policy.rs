//! Which addresses a node connects to because a peer named them.
use core::net::{IpAddr, Ipv4Addr};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Public,
    /// Networks that are not routed: RFC 1918, RFC 6598, unique local.
    Private,
    Loopback,
    /// Link-local, with the metadata services of clouds; multicast, reserved, and addresses that contain others.
    Never,
}

/// Whether to connect to an address because a peer named it, if the own listener is bound to `own`. Public addresses are
/// reached; loopback and private ones only if the listener is bound to one of that kind, or with `private`; link-local and
/// reserved ones never.
pub fn may_reach(address: IpAddr, own: IpAddr, private: bool) -> bool {
    match reach(address) {
        Reach::Public => true,
        Reach::Never => false,
        other => private || other == reach(own),
    }
}

fn reach(address: IpAddr) -> Reach {
    let address = match address.to_canonical() {
        IpAddr::V4(address) => return reach_v4(address),
        IpAddr::V6(address) => address,
    };
    match address.segments() {
        _ if address.is_loopback() => Reach::Loopback,
        _ if address.is_unique_local() => Reach::Private,
        // Teredo, documentation, 6to4.
        [0x2001, 0 | 0xdb8, ..] | [0x2002, ..] => Reach::Never,
        [0x2000..=0x3fff, ..] => Reach::Public,
        _ => Reach::Never,
    }
}

fn reach_v4(address: Ipv4Addr) -> Reach {
    match address.octets() {
        [127, ..] => Reach::Loopback,
        [100, 64..=127, ..] => Reach::Private,
        _ if address.is_private() => Reach::Private,
        [0 | 224.., ..] => Reach::Never,
        _ if address.is_link_local() || address.is_documentation() => Reach::Never,
        _ => Reach::Public,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn addresses_are_reached_by_kind() {
        let reach = |address: &str, own: &str, private| {
            let [address, own] = [address, own].map(|ip| ip.parse::<IpAddr>().unwrap());
            may_reach(address, own, private)
        };
        for public in ["8.8.8.8", "100.128.0.1", "2606:4700::1111"] {
            for own in ["0.0.0.0", "127.0.0.1", "::"] {
                assert!(reach(public, own, false), "{public}");
            }
        }
        for (address, same) in [
            ("127.0.0.2", "::1"),
            ("::ffff:127.0.0.1", "127.0.0.1"),
            ("172.16.0.1", "192.168.1.1"),
            ("100.64.0.1", "10.0.0.1"),
            ("fd00::1", "fd00::2"),
        ] {
            assert!(reach(address, same, false), "{address}");
            assert!(!reach(address, "0.0.0.0", false), "{address}");
            assert!(!reach(address, "8.8.8.8", false), "{address}");
            assert!(reach(address, "0.0.0.0", true), "{address}");
        }
        for never in [
            "169.254.169.254",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "fe80::1",
            "::",
            "ff02::1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
        ] {
            assert!(!reach(never, "0.0.0.0", true), "{never}");
            assert!(!reach(never, "127.0.0.1", true), "{never}");
        }
    }
}
