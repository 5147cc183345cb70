//! Idle connections cost nothing until a deadline.
#![allow(clippy::unwrap_used)]
mod counted;

use counted::most;
use lydite_ocapn::session::{Config, Limits, Location, Proof, Vat};

/// One test, so that no other test allocates at the same time.
#[test]
fn a_tick_before_the_deadline_reads_no_session() {
    let location = Location {
        transport: "tcp-testing-only".into(),
        designator: "vat".into(),
        hints: None,
    };
    let mut config = Config::new(vec![location]);
    config.limits = Limits {
        unidentified: 1000,
        ..Limits::default()
    };
    let mut vat = Vat::new(config, [7; 32]);
    for now in 0..1000 {
        vat.accepted(0, Proof::Claimed, now).unwrap();
    }
    assert_eq!(vat.deadline(), Some(10_000));
    // A list of the sessions would need memory.
    assert_eq!(most(|| vat.tick(9_999)), 0);
    assert_eq!(vat.stats().connections, 1000);
    vat.tick(10_000);
    // One hello is late; its connection has a second to close.
    assert_eq!(vat.deadline(), Some(10_001));
    vat.tick(10_999);
    assert_eq!(vat.deadline(), Some(11_000));
    vat.tick(20_000);
    vat.tick(30_000);
    assert_eq!(vat.stats().connections, 0);
    assert_eq!(vat.deadline(), None);
}
