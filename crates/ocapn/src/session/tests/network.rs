//! Many vats on a random network, against what a direct object graph would do: each message arrives exactly once, and
//! in the order in which it was sent through its reference; once all handles are dropped, all tables are empty.
use std::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec,
    vec::Vec,
};

use super::super::*;
use super::world::*;
use crate::syrup::Value;

/// A reference that a vat holds, under which it numbers its messages.
#[derive(Clone, Copy)]
struct Held {
    reference: Ref,
    /// Distinguishes this reference from all others, also of the same object.
    id: u64,
    sent: u64,
    /// The object or promise becomes something of a lower rank, so that promises are never fulfilled in a circle.
    /// Objects have rank 0.
    rank: u64,
}

struct Party {
    held: Vec<Held>,
    /// Unresolved promises: resolver and rank.
    resolvers: Vec<(Ref, u64)>,
    root: Ref,
    /// Objects made here.
    objects: BTreeSet<Ref>,
}

pub struct Oracle {
    pub world: World,
    parties: Vec<Party>,
    next: u64,
    /// Whether some promises are broken instead of fulfilled.
    pub breaks: bool,
    /// Whether a connection was cut.
    cuts: bool,
    /// What arrived, by reference.
    arrived: BTreeMap<u64, Vec<u64>>,
    sent: BTreeMap<u64, u64>,
    /// Promises that have not settled, and how often their holder listens.
    waiting: BTreeMap<(usize, Ref), u64>,
    /// The message, by reference and number, of which each is the result.
    results: BTreeMap<(usize, Ref), (u64, u64)>,
    settled: u64,
    broken: u64,
    /// All events and their vats, if requested.
    events: Option<Vec<(usize, String)>>,
}

impl Oracle {
    pub fn new(vats: usize, seed: u64) -> Self {
        Self::on(World::mixed(vats, seed))
    }

    fn on(mut world: World) -> Self {
        let vats = world.vats.len();
        let parties = (0..vats).map(|vat| Party {
            held: vec![],
            resolvers: vec![],
            root: world.publish(vat, b"root"),
            objects: BTreeSet::new(),
        });
        Self {
            parties: parties.collect(),
            world,
            next: 1,
            breaks: false,
            cuts: false,
            arrived: BTreeMap::new(),
            sent: BTreeMap::new(),
            waiting: BTreeMap::new(),
            results: BTreeMap::new(),
            settled: 0,
            broken: 0,
            events: None,
        }
    }

    fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn hold(&mut self, vat: usize, reference: Ref, rank: u64) {
        let id = self.next();
        self.parties[vat].held.push(Held {
            reference,
            id,
            sent: 0,
            rank,
        });
    }

    fn pick(&mut self, vat: usize) -> Option<usize> {
        match self.parties[vat].held.len() {
            0 => None,
            held => Some(self.world.random.below(held)),
        }
    }

    /// Lets a random vat do something, moves some bytes, and serves the events of a random vat.
    pub fn round(&mut self) {
        self.act();
        for _ in 0..self.world.random.below(6) {
            self.world.step();
        }
        let vat = self.world.random.below(self.parties.len());
        self.serve(vat);
    }

    /// Cuts a random connection.
    pub fn cut(&mut self) {
        self.cuts = true;
        self.world.cut();
    }

    fn act(&mut self) {
        let vat = self.world.random.below(self.parties.len());
        match self.world.random.below(11) {
            0 => {
                let other = self.world.random.below(self.parties.len());
                let reference = self.world.enliven(vat, other, b"root");
                self.hold(vat, reference, 0);
            }
            1 => {
                let object = self.world.vats[vat].object();
                self.parties[vat].objects.insert(object);
                self.hold(vat, object, 0);
            }
            2 => {
                let (promise, resolver) = self.world.vats[vat].promise();
                let rank = self.next();
                self.parties[vat].resolvers.push((resolver, rank));
                self.hold(vat, promise, rank);
            }
            3 => self.resolve(vat),
            // A message through a reference, mentioning another or not.
            4..=6 => {
                let mention = match self.world.random.below(2) {
                    0 => None,
                    _ => self.pick(vat).map(|i| self.parties[vat].held[i]),
                };
                let one_way = self.world.random.below(2) == 0;
                self.message(vat, mention, one_way);
            }
            // A call whose result is used at once.
            7..=8 => {
                let Some(i) = self.pick(vat) else { return };
                let rank = self.next();
                let target = self.parties[vat].held[i].reference;
                let arguments = Payload::list(|list| {
                    list.symbol("give").integer(rank);
                });
                let result = self.world.vats[vat].call(target, &arguments);
                self.hold(vat, result, rank);
            }
            9 => {
                let Some(i) = self.pick(vat) else { return };
                let reference = self.parties[vat].held[i].reference;
                self.world.vats[vat].clone_ref(reference);
                self.listen(vat, reference);
            }
            _ => {
                let Some(i) = self.pick(vat) else { return };
                let held = self.parties[vat].held.swap_remove(i);
                self.world.vats[vat].drop_ref(held.reference);
            }
        }
    }

    /// Listens on a promise with a handle that is dropped when it settles.
    fn listen(&mut self, vat: usize, promise: Ref) {
        self.world.vats[vat].listen(promise);
        *self.waiting.entry((vat, promise)).or_default() += 1;
    }

    /// Resolves one promise with something of a lower rank, or breaks it.
    fn resolve(&mut self, vat: usize) {
        let Some((resolver, rank)) = self.parties[vat].resolvers.pop() else {
            return;
        };
        if self.breaks && self.world.random.below(3) == 0 {
            self.world.vats[vat].resolve(resolver, Err(&"broken".into()));
        } else {
            let value = self.lower(vat, rank);
            self.world.vats[vat].resolve(resolver, Ok(&Payload::reference(value)));
        }
        self.world.vats[vat].drop_ref(resolver);
    }

    fn lower(&mut self, vat: usize, rank: u64) -> Ref {
        let party = &self.parties[vat];
        let candidates: Vec<Ref> = party
            .held
            .iter()
            .filter(|held| held.rank < rank)
            .map(|held| held.reference)
            .collect();
        match candidates.len() {
            0 => party.root,
            length => candidates[self.world.random.below(length)],
        }
    }

    fn message(&mut self, vat: usize, mention: Option<Held>, one_way: bool) {
        let Some(i) = self.pick(vat) else { return };
        let held = &mut self.parties[vat].held[i];
        let arguments = Payload::list(|list| {
            list.symbol("message").integer(held.id).integer(held.sent);
            if let Some(mention) = mention {
                list.integer(mention.rank).reference(mention.reference);
            }
        });
        let message = (held.id, held.sent);
        held.sent += 1;
        self.sent.insert(held.id, held.sent);
        let target = held.reference;
        if one_way {
            let vat = &mut self.world.vats[vat];
            if let Err(reason) = vat.send(target, &arguments) {
                vat.drop_payload(reason.value);
            }
        } else {
            let result = self.world.vats[vat].call(target, &arguments);
            self.results.insert((vat, result), message);
            self.listen(vat, result);
        }
    }

    /// Serves all events of one vat.
    fn serve(&mut self, vat: usize) {
        while let Some(event) = self.world.vats[vat].poll_event() {
            if let Some(events) = &mut self.events {
                events.push((vat, format!("{event:?}")));
            }
            match event {
                Event::Call {
                    arguments, reply, ..
                } => self.answer(vat, &arguments, reply),
                Event::Settled { promise, outcome } => {
                    self.settle(vat, promise, &outcome);
                    self.settled += 1;
                    self.broken += u64::from(outcome.is_err());
                    let payload = outcome.unwrap_or_else(|reason| reason.value);
                    self.world.vats[vat].drop_payload(payload);
                    self.world.vats[vat].drop_ref(promise);
                }
                Event::Dropped(object) => {
                    assert!(self.parties[vat].objects.remove(&object), "dropped twice");
                }
                Event::Broken(_) | Event::Up(_) | Event::Down(..) => {}
            }
        }
    }

    /// Checks that a promise settles once for each listener, and that a message arrived if its result is fulfilled.
    fn settle(&mut self, vat: usize, promise: Ref, outcome: &Outcome) {
        let at = (vat, promise);
        let listeners = self.waiting.get_mut(&at).expect("settled twice");
        *listeners -= 1;
        if *listeners == 0 {
            self.waiting.remove(&at);
        }
        if let Some((id, number)) = self.results.remove(&at) {
            let arrived = self.arrived.get(&id);
            let arrived = arrived.is_some_and(|numbers| numbers.contains(&number));
            // A cut may lose the result of a message that arrived.
            assert!(
                arrived == outcome.is_ok() || self.cuts && arrived,
                "reference {id}, message {number}: arrived {arrived}, {outcome:?}"
            );
        }
    }

    fn answer(&mut self, vat: usize, arguments: &Payload, reply: Option<Ref>) {
        let Value::List(items) = arguments.decode().unwrap() else {
            panic!("not a list");
        };
        let integer = |at: usize| match &items[at] {
            Value::Integer(value) => u64::try_from(value).unwrap(),
            other => panic!("{other:?}"),
        };
        let mut result = Payload::from("done");
        if items[0] == Value::symbol("message") {
            self.arrived.entry(integer(1)).or_default().push(integer(2));
            if items.len() > 3 {
                self.hold(vat, arguments.refs()[0], integer(3));
            }
        } else {
            result = Payload::reference(self.lower(vat, integer(1)));
        }
        if let Some(reply) = reply {
            self.world.vats[vat].resolve(reply, Ok(&result));
            self.world.vats[vat].drop_ref(reply);
        }
    }

    fn drain(&mut self) {
        loop {
            let moved = self.world.step();
            (0..self.parties.len()).for_each(|vat| self.serve(vat));
            if !moved && !self.world.step() {
                break;
            }
        }
    }

    /// Lets go of everything, and checks what arrived and what is left.
    pub fn finish(&mut self) {
        self.wind_down();
        if self.cuts {
            // Gifts that nobody fetched, and connections that nobody answered.
            self.world.now += 600_000;
            for vat in &mut self.world.vats {
                vat.tick(600_000);
            }
            self.wind_down();
        }
        let waiting = self.waiting.len();
        assert_eq!(waiting, 0, "{waiting} promises never settled");
        for (id, sent) in &self.sent {
            let arrived = self.arrived.get(id).map_or(&[][..], Vec::as_slice);
            if self.cuts || self.breaks {
                let ascending = arrived.windows(2).all(|pair| pair[0] < pair[1]);
                assert!(ascending, "reference {id}: {arrived:?}");
            } else {
                let expected: Vec<u64> = (0..*sent).collect();
                assert_eq!(arrived, expected, "reference {id}");
            }
        }
        for (vat, party) in self.world.vats.iter().zip(&self.parties) {
            assert_eq!(vat.stats(), empty(&vat.stats()));
            assert!(self.cuts || party.objects.is_empty());
        }
        assert!(self.broken == 0 || self.cuts || self.breaks);
    }

    fn wind_down(&mut self) {
        for vat in 0..self.parties.len() {
            while !self.parties[vat].resolvers.is_empty() {
                self.resolve(vat);
            }
        }
        self.drain();
        for _ in 0..2 {
            for vat in 0..self.parties.len() {
                for held in std::mem::take(&mut self.parties[vat].held) {
                    self.world.vats[vat].drop_ref(held.reference);
                }
            }
            self.drain();
        }
    }
}

fn empty(stats: &Stats) -> Stats {
    Stats {
        // The bootstrap object and the root.
        nodes: 2,
        connections: stats.connections,
        ..Stats::default()
    }
}

#[test]
fn nothing_is_lost_doubled_or_overtaken() {
    let mut messages = 0;
    for seed in 0..300 {
        let mut oracle = Oracle::new(2 + seed as usize % 4, seed);
        (0..200).for_each(|_| oracle.round());
        oracle.finish();
        messages += oracle.sent.values().sum::<u64>();
    }
    assert!(
        messages > 10_000,
        "{messages} messages are too few to mean anything"
    );
}

#[test]
fn broken_promises_break_what_waits_for_them() {
    let (mut settled, mut broken) = (0, 0);
    for seed in 0..300 {
        let mut oracle = Oracle::new(2 + seed as usize % 3, 3000 + seed);
        oracle.breaks = true;
        (0..150).for_each(|_| oracle.round());
        oracle.finish();
        settled += oracle.settled;
        broken += oracle.broken;
    }
    assert!(
        broken > 100 && settled > 2 * broken,
        "{settled} settled, {broken} broken"
    );
}

#[test]
fn cut_connections_break_each_result_once() {
    let (mut settled, mut broken) = (0, 0);
    for seed in 0..300 {
        let mut oracle = Oracle::new(2 + seed as usize % 3, 1000 + seed);
        for _ in 0..150 {
            oracle.round();
            if oracle.world.random.below(40) == 0 {
                oracle.cut();
            }
        }
        oracle.finish();
        settled += oracle.settled;
        broken += oracle.broken;
    }
    assert!(
        broken > 100 && settled > 5 * broken,
        "{settled} settled, {broken} broken"
    );
}

#[test]
fn bytes_one_by_one_give_the_same_output() {
    for seed in 0..40 {
        let sent = [false, true].map(|bytewise| {
            let mut oracle = Oracle::new(3, 2000 + seed);
            oracle.world.bytewise = bytewise;
            for _ in 0..100 {
                oracle.act();
                for _ in 0..oracle.world.random.below(6) {
                    oracle.world.step();
                }
                (0..3).for_each(|vat| oracle.serve(vat));
            }
            oracle.wind_down();
            oracle.world.sent
        });
        assert_eq!(sent[0], sent[1], "seed {seed}");
        assert!(
            sent[0].iter().any(|ends| ends[0].len() > 300),
            "seed {seed}"
        );
    }
}

#[test]
fn dialects_and_framings_give_the_same_events() {
    let mut count = 0;
    for seed in 0..20 {
        let speeches = DIALECTS
            .into_iter()
            .flat_map(|dialect| FRAMINGS.map(|framing| (dialect, framing)));
        let runs = speeches.map(|speech| {
            let mut world = World::speaking(3, 4000 + seed, || speech);
            // Where bytes are cut depends on their number.
            world.whole = true;
            let mut oracle = Oracle::on(world);
            oracle.events = Some(vec![]);
            (0..200).for_each(|_| oracle.round());
            oracle.finish();
            oracle.events.unwrap()
        });
        let runs: Vec<_> = runs.collect();
        count += runs[0].len();
        for (number, events) in runs.iter().enumerate() {
            assert!(*events == runs[0], "seed {seed}, run {number}");
        }
    }
    assert!(count > 1000, "{count} events are too few to mean anything");
}
