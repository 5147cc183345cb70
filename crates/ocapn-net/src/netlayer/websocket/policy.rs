//! Which addresses a node connects to because a peer named them.
use std::net::{IpAddr, Ipv4Addr};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Public,
    /// Networks that are not routed: RFC 1918, RFC 6598, unique local.
    Private,
    Loopback,
    /// Link-local, with the metadata services of clouds; multicast, reserved, and addresses that contain others.
    Never,
}

/// Whether to connect to `address` if the own listener is bound to `own`.
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
