//! The state of one participant, its numbers for references, and the events that it writes for JavaScript.

use std::collections::BTreeMap;

use lydite::ocapn::captp::SecretKey;
use lydite::ocapn::session::{Cause, Connection, Dial, Event, Location, Payload, Ref, Vat};

use crate::failure::Failure;
use crate::slots::Slots;
use crate::syrup_tape;
use crate::tape::Writer;

/// The state of one participant.
pub struct Peer {
    pub vat: Vat,
    /// The key of the designator.
    pub key: SecretKey,
    pub location: Location,
    pub refs: Refs,
    pub links: Slots<Link>,
    /// Requests to connect, and where.
    pub dials: Slots<(Dial, Location)>,
}

/// A connection, and the messages to send on it that have been taken from the vat, each after its length.
pub struct Link {
    pub connection: Connection,
    pub taken: Vec<u8>,
    /// Length of the part of `taken` that JavaScript has.
    pub sent: usize,
}

/// Numbers for references.
#[derive(Default)]
pub struct Refs {
    items: Vec<Option<Ref>>,
    free: Vec<usize>,
    /// Also whether it is a local object: then the number stays until nobody refers to the object.
    numbers: BTreeMap<Ref, (usize, bool)>,
}

impl Refs {
    pub fn number(&mut self, item: Ref) -> usize {
        if let Some(number) = self.find(item) {
            return number;
        }
        let number = self.free.pop().unwrap_or(self.items.len());
        if number == self.items.len() {
            self.items.push(None);
        }
        self.items[number] = Some(item);
        self.numbers.insert(item, (number, false));
        number
    }

    pub fn number_object(&mut self, object: Ref) -> usize {
        let number = self.number(object);
        self.numbers.insert(object, (number, true));
        number
    }

    fn find(&self, item: Ref) -> Option<usize> {
        self.numbers.get(&item).map(|(number, _)| *number)
    }

    fn is_object(&self, item: Ref) -> bool {
        self.numbers.get(&item).is_some_and(|(_, object)| *object)
    }

    pub fn get(&self, number: usize) -> Result<Ref, Failure> {
        let item = self.items.get(number).copied().flatten();
        item.ok_or_else(|| Failure::argument("unknown or released reference"))
    }

    fn remove(&mut self, item: Ref) {
        if let Some((number, _)) = self.numbers.remove(&item) {
            self.items[number] = None;
            self.free.push(number);
        }
    }
}

impl Peer {
    /// The number of a new connection plus 1, or 0 if the vat does not need it.
    pub fn add(&mut self, connection: Option<Connection>) -> usize {
        let Some(connection) = connection else {
            return 0;
        };
        let link = Link {
            connection,
            taken: Vec::new(),
            sent: 0,
        };
        self.links.add(link) + 1
    }

    pub fn find(&self, connection: Connection) -> Option<usize> {
        self.links.find(|link| link.connection == connection)
    }

    /// Numbers the handles of a payload, and writes it.
    fn put(&mut self, payload: &Payload, out: &mut Writer) -> Result<(), &'static str> {
        let refs = payload.refs().iter();
        let numbers: Vec<usize> = refs.map(|handle| self.refs.number(*handle)).collect();
        let mut value = Writer::new();
        let written = match payload.decode() {
            Ok(tree) => syrup_tape::write(&tree, &numbers, &mut value).is_ok(),
            Err(_) => false,
        };
        if written {
            out.append(value);
            return Ok(());
        }
        self.drop_payload(payload);
        Err("the value is too deep, or has an integer of more than 65536 bits")
    }

    pub fn drop_payload(&mut self, payload: &Payload) {
        for handle in payload.refs() {
            self.drop(*handle);
        }
    }

    /// Releases a handle, and its number with the last one.
    pub fn drop(&mut self, handle: Ref) {
        self.vat.drop_ref(handle);
        if !self.vat.is_held(handle) && !self.refs.is_object(handle) {
            self.refs.remove(handle);
        }
    }

    /// Writes the event and returns whether it concerns JavaScript.
    pub fn put_event(&mut self, event: Event, out: &mut Writer) -> bool {
        match event {
            Event::Call {
                object,
                arguments,
                reply,
                ..
            } => {
                out.word(1, self.refs.number(object));
                let number = reply.map_or(0, |reply| self.refs.number(reply));
                out.word(reply.is_some().into(), number);
                if let Err(reason) = self.put(&arguments, out) {
                    if let Some(reply) = reply {
                        self.vat.resolve(reply, Err(&Payload::error(reason)));
                        self.drop(reply);
                    }
                    return false;
                }
            }
            Event::Settled { promise, outcome } => {
                let Some(number) = self.refs.find(promise) else {
                    let payload = outcome.unwrap_or_else(|reason| reason.value);
                    self.drop_payload(&payload);
                    return false;
                };
                let (kind, payload) = match outcome {
                    Ok(value) => (2, value),
                    Err(reason) => {
                        let kind = match reason.cause {
                            Cause::Disconnected => 6,
                            Cause::Limit => 7,
                            _ => 3,
                        };
                        (kind, reason.value)
                    }
                };
                let mut settled = Writer::new();
                let (kind, settled) = match self.put(&payload, &mut settled) {
                    Ok(()) => (kind, settled),
                    Err(reason) => {
                        let mut settled = Writer::new();
                        let _: Result<(), _> = self.put(&Payload::error(reason), &mut settled);
                        (3, settled)
                    }
                };
                out.word(kind, number);
                out.append(settled);
            }
            Event::Broken(reference) => match self.refs.find(reference) {
                Some(number) => out.word(4, number),
                None => return false,
            },
            Event::Dropped(object) => {
                out.word(5, self.refs.number(object));
                self.refs.remove(object);
            }
            Event::Up(_) | Event::Down(..) => return false,
        }
        true
    }
}
