//! The memory of a session, and of what a session holds.
#![cfg(feature = "captp")]
#![allow(clippy::unwrap_used, clippy::panic)]
mod counted;
mod pair;

use counted::live;
use lydite_ocapn::session::{Event, Limits, Payload, Ref};
use pair::{SWISS, Side, config, enliven};

fn side(name: &str, seed: u8) -> Side {
    let mut config = config(name);
    config.limits = Limits {
        unidentified: usize::MAX,
        connections: usize::MAX,
        listeners: usize::MAX,
        ..Limits::default()
    };
    Side::new(config, seed)
}

/// Passes what the two send to each other. Returns the events of the server.
fn pass(client: &mut Side, server: &mut Side) -> Vec<Event> {
    pair::pass_all(client, server, &mut Vec::new());
    while client.vat.poll_event().is_some() {}
    std::iter::from_fn(|| server.vat.poll_event()).collect()
}

/// A client and a server in a session, and the client's reference to the server's object.
fn connected() -> (Side, Side, Ref) {
    let (mut client, mut server) = (side("client", 1), side("server", 2));
    let object = server.vat.object();
    server.vat.publish(SWISS, object);
    let object = enliven(&mut client, &mut server, "server");
    (client, server, object)
}

/// Tables grow by doubling. With these numbers they are nearly full.
const SESSIONS: usize = 500;
const ROUNDS: usize = 8;
const OF_A_ROUND: usize = 1000;
const HELD: usize = ROUNDS * OF_A_ROUND;

/// The memory of each side, for each thing held.
fn each(sides: [Side; 2]) -> [usize; 2] {
    sides.map(|side| {
        let before = live();
        drop(side);
        (before - live()) / HELD
    })
}

/// An idle session, which has had references and answers.
fn session() -> usize {
    let mut server = side("server", 1);
    let object = server.vat.object();
    server.vat.publish(SWISS, object);
    let before = live();
    for index in 0..SESSIONS {
        let mut client = side(&format!("client {index}"), 2);
        let object = enliven(&mut client, &mut server, "server");
        client.vat.drop_ref(object);
        pass(&mut client, &mut server);
    }
    let stats = server.vat.stats();
    assert_eq!(stats.connections, SESSIONS);
    assert_eq!(stats.exports + stats.imports + stats.answers, 0);
    (live() - before) / SESSIONS
}

/// An export, and an import.
fn references() -> [usize; 2] {
    let (mut client, mut server, to) = connected();
    for _ in 0..ROUNDS {
        let objects: Vec<Ref> = (0..OF_A_ROUND).map(|_| client.vat.object()).collect();
        let list = Payload::list(|list| {
            objects.iter().for_each(|object| {
                list.reference(*object);
            });
        });
        client.vat.send(to, &list).unwrap();
        for object in objects {
            client.vat.drop_ref(object);
        }
        // The handles in the arguments are never dropped.
        pass(&mut client, &mut server);
    }
    assert_eq!(client.vat.stats().exports, HELD);
    assert_eq!(server.vat.stats().imports, HELD);
    each([client, server])
}

/// A question, and an answer, both with an empty list as the result.
fn answers() -> [usize; 2] {
    let (mut client, mut server, to) = connected();
    let nothing = Payload::list(|_| {});
    for _ in 0..ROUNDS {
        for _ in 0..OF_A_ROUND {
            client.vat.call(to, &nothing);
        }
        for event in pass(&mut client, &mut server) {
            if let Event::Call {
                reply: Some(reply), ..
            } = event
            {
                server.vat.resolve(reply, Ok(&nothing));
                server.vat.drop_ref(reply);
            }
        }
        pass(&mut client, &mut server);
    }
    assert_eq!(client.vat.stats().questions, HELD);
    assert_eq!(server.vat.stats().answers, HELD);
    each([client, server])
}

/// One test, so that no other test allocates at the same time.
#[test]
fn sessions_and_what_they_hold_are_small() {
    let session = session();
    let [export, import] = references();
    let [question, answer] = answers();
    assert!(session <= 1792, "{session} bytes a session");
    assert!(export <= 120, "{export} bytes an export");
    assert!(import <= 96, "{import} bytes an import");
    assert!(question <= 168, "{question} bytes a question");
    assert!(answer <= 192, "{answer} bytes an answer");
}
