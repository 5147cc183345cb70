//! The memory of a session, and of what a session holds.
#![cfg(feature = "captp")]
#![allow(clippy::unwrap_used, clippy::panic)]
mod counted;

use counted::live;
use lydite_ocapn::captp::Sturdyref;
use lydite_ocapn::session::{
    Config, Connection, Event, Limits, Location, Output, Payload, Proof, Ref, Vat,
};

const SWISS: &[u8] = b"object";

fn location(name: &str) -> Location {
    Location {
        transport: "memory".into(),
        designator: name.into(),
        hints: None,
    }
}

fn vat(name: &str, seed: u8) -> Vat {
    let mut config = Config::new(vec![location(name)]);
    config.limits = Limits {
        unidentified: usize::MAX,
        connections: usize::MAX,
        listeners: usize::MAX,
        ..Limits::default()
    };
    Vat::new(config, [seed; 32])
}

/// A vat and its end of a connection.
struct Side {
    vat: Vat,
    connection: Option<Connection>,
}

impl Side {
    fn new(name: &str, seed: u8) -> Self {
        Self {
            vat: vat(name, seed),
            connection: None,
        }
    }
}

/// Passes what two vats send to each other. Returns the events of each.
fn pass(sides: &mut [&mut Side; 2]) -> [Vec<Event>; 2] {
    let mut events = [vec![], vec![]];
    loop {
        let mut idle = true;
        for from in 0..2 {
            while let Some(output) = sides[from].vat.poll_output() {
                idle = false;
                match output {
                    Output::Bytes(connection) => {
                        let mut bytes = Vec::new();
                        sides[from].vat.take_bytes(connection, &mut bytes);
                        let to = &mut sides[1 - from];
                        to.vat.received(to.connection.unwrap(), &bytes, 0);
                    }
                    Output::Dial { dial, .. } => {
                        let dialed = sides[from].vat.dialed(dial, Proof::Trusted, 0);
                        sides[from].connection = dialed;
                        let to = &mut sides[1 - from];
                        to.connection = to.vat.accepted(0, Proof::Trusted, 0);
                    }
                    Output::Close(_) => panic!("a session ended"),
                }
            }
            events[from].extend(std::iter::from_fn(|| sides[from].vat.poll_event()));
        }
        if idle {
            return events;
        }
    }
}

/// Opens a session, and returns the client's reference to the server's published object.
fn enliven(client: &mut Side, server: &mut Side) -> Ref {
    let location = location("server");
    let promise = client.vat.enliven(&Sturdyref {
        peer: location.peer(),
        swiss: SWISS,
    });
    client.vat.listen(promise);
    let [events, _] = pass(&mut [client, server]);
    let object = events.into_iter().find_map(|event| match event {
        Event::Settled { outcome, .. } => outcome.unwrap().as_reference(),
        _ => None,
    });
    client.vat.drop_ref(promise);
    pass(&mut [client, server]);
    object.unwrap()
}

/// A client and a server in a session, and the client's reference to the server's object.
fn pair() -> (Side, Side, Ref) {
    let (mut client, mut server) = (Side::new("client", 1), Side::new("server", 2));
    let object = server.vat.object();
    server.vat.publish(SWISS, object);
    let object = enliven(&mut client, &mut server);
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
    let mut server = Side::new("server", 1);
    let object = server.vat.object();
    server.vat.publish(SWISS, object);
    let before = live();
    for index in 0..SESSIONS {
        let mut client = Side::new(&format!("client {index}"), 2);
        let object = enliven(&mut client, &mut server);
        client.vat.drop_ref(object);
        pass(&mut [&mut client, &mut server]);
    }
    let stats = server.vat.stats();
    assert_eq!(stats.connections, SESSIONS);
    assert_eq!(stats.exports + stats.imports + stats.answers, 0);
    (live() - before) / SESSIONS
}

/// An export, and an import.
fn references() -> [usize; 2] {
    let (mut client, mut server, to) = pair();
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
        pass(&mut [&mut client, &mut server]);
    }
    assert_eq!(client.vat.stats().exports, HELD);
    assert_eq!(server.vat.stats().imports, HELD);
    each([client, server])
}

/// A question, and an answer, both with an empty list as the result.
fn answers() -> [usize; 2] {
    let (mut client, mut server, to) = pair();
    let nothing = Payload::list(|_| {});
    for _ in 0..ROUNDS {
        for _ in 0..OF_A_ROUND {
            client.vat.call(to, &nothing);
        }
        let [_, events] = pass(&mut [&mut client, &mut server]);
        for event in events {
            if let Event::Call {
                reply: Some(reply), ..
            } = event
            {
                server.vat.resolve(reply, Ok(&nothing));
                server.vat.drop_ref(reply);
            }
        }
        pass(&mut [&mut client, &mut server]);
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
    assert!(session <= 3 << 10, "{session} bytes a session");
    assert!(export <= 328, "{export} bytes an export");
    assert!(import <= 320, "{import} bytes an import");
    assert!(question <= 520, "{question} bytes a question");
    assert!(answer <= 520, "{answer} bytes an answer");
}
