//! A CapTP session with a peer that sends any bytes: lines of the input, in whole or byte by byte, and between them the
//! application does what the input's first bytes choose. Both ways of sending cause the same events and bytes, an honest
//! peer can still call, and nothing of the session remains.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::ocapn::captp::{Dialect, Operation, SecretKey, StartSession, Syrup};

use lydite_fuzz::session::tests::world::{World, calls, config, location, outcome};
use lydite_fuzz::session::{Connection, Event, Output, Payload, Proof, Ref, Vat};

/// Input bytes that choose what the application does; then it does the same again.
const CHOICES: usize = 8;

fuzz_target!(|data: &[u8]| {
    if data.len() > CHOICES {
        let (choices, bytes) = data.split_at(CHOICES);
        let whole = attack(choices, bytes, usize::MAX);
        assert_eq!(whole, attack(choices, bytes, 1));
    }
});

/// What the attacked vat did: its events, and the bytes for the attacker.
fn attack(choices: &[u8], bytes: &[u8], piece: usize) -> (Vec<Event>, Vec<u8>) {
    let mut world = World::with((0..2).map(config).collect(), 77);
    world.publish(0, b"object");
    let honest = world.enliven(1, 0, b"object");
    world.vats[1].listen(honest);
    world.settle();
    let before = world.vats[0].stats();

    let vat = &mut world.vats[0];
    let connection = vat.accepted(0, Proof::Trusted, 0).unwrap();
    vat.received(connection, &hello(), 0);
    let mut application = Application {
        choices: choices.iter().cycle(),
        held: vec![],
        resolvers: vec![],
        events: vec![],
        sent: vec![],
    };
    application.react(vat);
    for line in bytes.split(|byte| *byte == b'\n') {
        let mut pieces = line.chunks(piece.min(line.len()).max(1));
        pieces
            .by_ref()
            .for_each(|piece| vat.received(connection, piece, 0));
        application.react(vat);
    }
    application.end(vat, connection);
    let after = vat.stats();
    assert_eq!(
        (after.nodes, after.connections),
        (before.nodes, before.connections)
    );
    assert_eq!(
        (after.imports, after.exports),
        (before.imports, before.exports)
    );
    assert_eq!((after.gifts, after.queued, after.dials), (0, 0, 0));
    assert_eq!(vat.deadline(), None);

    let result = world.vats[1].call(honest, &Payload::list(|_| {}));
    world.vats[1].listen(result);
    let events = world.settle();
    let (_, _, reply) = calls(&events[0])[0].clone();
    world.vats[0].resolve(reply.unwrap(), Ok(&"fine".into()));
    let events = world.settle();
    assert_eq!(outcome(&events[1], result), Some(Ok("fine".into())));
    (application.events, application.sent)
}

fn hello() -> Vec<u8> {
    let mut location = location(9);
    location.designator = "attacker".into();
    let start = StartSession::sign::<Syrup>(&SecretKey::from_bytes(&[7; 32]), location.peer());
    let mut out = vec![];
    let hello = Operation::StartSession(start.unwrap());
    hello
        .encode::<Syrup, _>(Dialect::Endo202608, &mut out)
        .unwrap();
    out
}

struct Application<'a> {
    choices: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    held: Vec<Ref>,
    resolvers: Vec<Ref>,
    events: Vec<Event>,
    sent: Vec<u8>,
}

impl Application<'_> {
    fn choose(&mut self, bound: u8) -> u8 {
        self.choices.next().map_or(0, |choice| choice % bound)
    }

    /// Serves the events and sends what there is, until nothing happens.
    fn react(&mut self, vat: &mut Vat) {
        loop {
            let mut idle = true;
            while let Some(event) = vat.poll_event() {
                idle = false;
                self.serve(vat, &event);
                self.events.push(event);
            }
            while let Some(output) = vat.poll_output() {
                idle = false;
                match output {
                    Output::Bytes(connection) => vat.take_bytes(connection, &mut self.sent),
                    Output::Close(connection) => vat.closed(connection, "closed"),
                    Output::Dial { dial, .. } => vat.dial_failed(dial, "no network"),
                }
            }
            if idle {
                return;
            }
        }
    }

    fn serve(&mut self, vat: &mut Vat, event: &Event) {
        match event {
            Event::Call {
                arguments, reply, ..
            } => {
                for reference in arguments.refs() {
                    self.held.push(*reference);
                    match self.choose(6) {
                        0 => vat.listen(*reference),
                        1 => vat.watch(*reference),
                        2 => {
                            if let Err(reason) = vat.send(*reference, &Payload::list(|_| {})) {
                                self.held.extend(reason.value.refs());
                            }
                        }
                        3 => {
                            let answer = vat.call(*reference, arguments);
                            self.held.push(answer);
                        }
                        4 => {
                            self.held.pop();
                            vat.drop_ref(*reference);
                        }
                        _ => {}
                    }
                }
                if let Some(reply) = *reply {
                    match self.choose(4) {
                        0 => vat.resolve(reply, Ok(arguments)),
                        1 => vat.resolve(reply, Err(arguments)),
                        2 => return self.resolvers.push(reply),
                        _ => {}
                    }
                    vat.drop_ref(reply);
                }
            }
            Event::Settled { outcome, .. } => {
                let payload = outcome.as_ref().unwrap_or_else(|reason| &reason.value);
                self.held.extend(payload.refs());
                // What waited for another call now gets this.
                if let Some(resolver) = self.resolvers.pop() {
                    vat.resolve(resolver, Ok(payload));
                    vat.drop_ref(resolver);
                }
            }
            _ => {}
        }
    }

    /// Ends the session and lets go of everything.
    fn end(&mut self, vat: &mut Vat, connection: Connection) {
        vat.closed(connection, "the end");
        self.react(vat);
        for reference in self.resolvers.drain(..).chain(self.held.drain(..)) {
            vat.drop_ref(reference);
        }
        while let Some(event) = vat.poll_event() {
            if let Event::Settled { outcome, .. } = event {
                let payload = outcome.unwrap_or_else(|reason| reason.value);
                vat.drop_payload(payload);
            }
        }
    }
}
