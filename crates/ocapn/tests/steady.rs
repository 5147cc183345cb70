//! Calls between two vats allocate nothing once their tables and buffers have grown.
#![allow(clippy::unwrap_used, clippy::panic)]
mod counted;
mod pair;

use counted::allocations;
use lydite_ocapn::captp::Framing;
use lydite_ocapn::session::{Event, Payload, Ref};
use pair::{SWISS, Side, config, enliven, pass_all};

const CALLS: usize = 64;

/// Returns the number of messages that arrived.
type Round = fn(&mut Pair) -> usize;

struct Pair {
    client: Side,
    server: Side,
    object: Ref,
    arguments: Payload,
    bytes: Vec<u8>,
}

impl Pair {
    fn new(framing: Framing, piece: usize) -> Self {
        let side = |name, seed| {
            let mut config = config(name);
            config.framing = framing;
            let mut side = Side::new(config, seed);
            side.piece = piece;
            side
        };
        let (mut client, mut server) = (side("client", 1), side("server", 2));
        let object = server.vat.object();
        server.vat.publish(SWISS, object);
        let object = enliven(&mut client, &mut server, "server");
        Self {
            client,
            server,
            object,
            arguments: Payload::default(),
            bytes: Vec::new(),
        }
    }

    fn pass(&mut self) {
        pass_all(&mut self.client, &mut self.server, &mut self.bytes);
    }

    /// Calls in flight at the same time, which return their arguments.
    fn echo(&mut self, reference: bool) -> usize {
        for call in 0..CALLS {
            self.arguments.rebuild_list(|list| {
                list.string("some text").integer(call as u64);
                if reference {
                    list.reference(self.object);
                }
            });
            let promise = self.client.vat.call(self.object, &self.arguments);
            self.client.vat.listen(promise);
        }
        self.pass();
        while let Some(event) = self.server.vat.poll_event() {
            if let Event::Call {
                arguments,
                reply: Some(reply),
                ..
            } = event
            {
                self.server.vat.resolve(reply, Ok(&arguments));
                self.server.vat.drop_ref(reply);
                self.server.vat.drop_payload(arguments);
            }
        }
        self.pass();
        let mut settled = 0;
        while let Some(event) = self.client.vat.poll_event() {
            if let Event::Settled { promise, outcome } = event {
                let value = outcome.unwrap();
                settled += usize::from(value.refs().len() == usize::from(reference));
                self.client.vat.drop_payload(value);
                self.client.vat.drop_ref(promise);
            }
        }
        self.pass();
        settled
    }

    fn one_way(&mut self) -> usize {
        for _ in 0..CALLS {
            self.arguments.rebuild_list(|list| {
                list.string("some text");
            });
            self.client.vat.send(self.object, &self.arguments).unwrap();
        }
        self.pass();
        let mut received = 0;
        while let Some(event) = self.server.vat.poll_event() {
            if let Event::Call { arguments, .. } = event {
                received += 1;
                self.server.vat.drop_payload(arguments);
            }
        }
        received
    }
}

/// One test, so that no other test allocates at the same time.
#[test]
fn steady_calls_allocate_nothing() {
    for (framing, piece) in [
        (Framing::None, usize::MAX),
        (Framing::Length, usize::MAX),
        (Framing::None, 100),
        (Framing::Length, 100),
    ] {
        let mut pair = Pair::new(framing, piece);
        let rounds: [(&str, Round); 3] = [
            ("echo", |pair| pair.echo(false)),
            ("echo of a reference", |pair| pair.echo(true)),
            ("one-way", Pair::one_way),
        ];
        for (name, round) in rounds {
            (0..100).for_each(|_| assert_eq!(round(&mut pair), CALLS));
            let stats = (pair.client.vat.stats(), pair.server.vat.stats());
            let allocations = allocations(|| {
                (0..4).for_each(|_| assert_eq!(round(&mut pair), CALLS));
            });
            assert_eq!(allocations, 0, "{name} in pieces of {piece} bytes");
            assert_eq!((pair.client.vat.stats(), pair.server.vat.stats()), stats);
        }
    }
}
