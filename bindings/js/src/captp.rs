//! One participant of OCapN per WebAssembly instance: its sessions, without their WebSockets, which are JavaScript's.
//!
//! References, connections and requests to connect are numbers. A number that JavaScript receives is a handle of the
//! reference; it returns each with [`release`]. Times are in units of 10 ms since the start.

use lydite::ocapn::captp::{self, Framing, Locator, PublicKey, SecretKey};
use lydite::ocapn::session::{Cause, Config, Location, Output, Payload, Ref, Vat};

use crate::failure::{Code, Failure};
use crate::peer::{Peer, Refs};
use crate::scratch::State;
use crate::slots::Slots;
use crate::syrup_tape;
use crate::tape::{Reader, Writer};

const TRANSPORT: &str = "websocket";
const UNIT: u64 = 10;

impl State {
    fn peer(&mut self) -> Result<&mut Peer, Failure> {
        let peer = self.peer.as_mut();
        peer.ok_or_else(|| Failure::argument("the participant has not been started"))
    }

    /// The value on the tape in the first bytes of the scratch buffer.
    fn payload(&mut self, length: usize) -> Result<Payload, Failure> {
        let mut references = Vec::new();
        let tree = syrup_tape::read(
            &mut Reader::new(self.input(length)?),
            0,
            Some(&mut references),
        )?;
        let peer = self.peer()?;
        let references: Result<Vec<Ref>, Failure> = references
            .into_iter()
            .map(|number| peer.refs.get(number))
            .collect();
        Payload::from_tree(&tree, &references?).map_err(|error| Failure::encode(error.kind))
    }

    fn text(&mut self, at: usize, length: usize) -> Result<&str, Failure> {
        let bytes = self.range(at, length)?;
        std::str::from_utf8(bytes).map_err(|error| Failure::argument(format_args!("text: {error}")))
    }
}

/// Seed of all session keys, seed of the designator's key, the URL of the own WebSocket server (empty: none) → nothing.
/// The seeds are 32 secret bytes each, and are wiped.
pub fn start(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let (seed, secret) = (state.array(0)?, state.array(32)?);
    state.input(64)?.fill(0);
    let url = state.text(64, length)?;
    let hints = (!url.is_empty()).then(|| vec![("url".to_owned(), url.to_owned())]);
    let key = SecretKey::from_bytes(&secret);
    let location = Location {
        transport: TRANSPORT.into(),
        designator: key.public_key().to_designator(),
        hints,
    };
    let mut config = Config::new(vec![location.clone()]);
    // Frames of a WebSocket are messages. Inside the core their lengths precede them.
    config.fixed_framing = vec![(TRANSPORT.into(), Framing::Length)];
    state.peer = Some(Peer {
        vat: Vat::new(config, seed),
        key,
        location,
        refs: Refs::default(),
        links: Slots::default(),
        dials: Slots::default(),
    });
    Ok(0)
}

/// Locator → a promise for the object, or for the bootstrap object of the peer.
pub fn enliven(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let locator: Locator = state.text(0, length)?.parse()?;
    let peer = state.peer()?;
    let promise = match locator.sturdyref() {
        Some(sturdyref) => peer.vat.enliven(&sturdyref),
        None => peer.vat.connect(&locator.peer()),
    };
    Ok(peer.refs.number(promise))
}

/// Tape of the arguments, a list → a promise for the result.
pub fn call(state: &mut State, target: usize, length: usize, _: usize) -> Result<usize, Failure> {
    let arguments = state.payload(length)?;
    let peer = state.peer()?;
    let result = peer.vat.call(peer.refs.get(target)?, &arguments);
    Ok(peer.refs.number(result))
}

/// Tape of the arguments, a list → whether too much waits already, so that nothing was sent.
pub fn send(state: &mut State, target: usize, length: usize, _: usize) -> Result<usize, Failure> {
    let arguments = state.payload(length)?;
    let peer = state.peer()?;
    let Err(reason) = peer.vat.send(peer.refs.get(target)?, &arguments) else {
        return Ok(0);
    };
    peer.drop_payload(&reason.value);
    // The sender expects no sign of other failures.
    Ok((reason.cause == Cause::Limit).into())
}

/// Name of a field → a promise for that field of the struct that a promise is fulfilled with.
pub fn get(state: &mut State, promise: usize, length: usize, _: usize) -> Result<usize, Failure> {
    let field = state.text(0, length)?.to_owned();
    let peer = state.peer()?;
    let result = peer.vat.get(peer.refs.get(promise)?, &field);
    Ok(peer.refs.number(result))
}

/// A promise for an item of the list that a promise is fulfilled with.
pub fn index(state: &mut State, promise: usize, index: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    let result = peer.vat.index(peer.refs.get(promise)?, index as u64);
    Ok(peer.refs.number(result))
}

/// Requests the event for the settlement of a promise.
pub fn listen(state: &mut State, promise: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    peer.vat.listen(peer.refs.get(promise)?);
    Ok(0)
}

/// Requests the event for the end of the session of a reference.
pub fn watch(state: &mut State, reference: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    peer.vat.watch(peer.refs.get(reference)?);
    Ok(0)
}

/// Whether so much waits to be sent to the peer of a reference, or for a promise, that the caller should wait.
pub fn is_congested(
    state: &mut State,
    reference: usize,
    _: usize,
    _: usize,
) -> Result<usize, Failure> {
    let peer = state.peer()?;
    Ok(peer.vat.is_congested(peer.refs.get(reference)?).into())
}

/// Releases a handle.
pub fn release(state: &mut State, reference: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    peer.drop(peer.refs.get(reference)?);
    Ok(0)
}

/// A new object: calls of it are events.
pub fn object(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    let object = peer.vat.object();
    Ok(peer.refs.number_object(object))
}

/// Swiss number → the locator of the object, which whoever knows it can get from now on.
pub fn publish(
    state: &mut State,
    object: usize,
    length: usize,
    _: usize,
) -> Result<usize, Failure> {
    let swiss = state.input(length)?.to_vec();
    if swiss.is_empty() {
        return Err(Failure::argument(
            "expected a swiss number, found an empty one",
        ));
    }
    let peer = state.peer()?;
    peer.vat.publish(&swiss, peer.refs.get(object)?);
    let locator = peer.location.locator(&swiss);
    state.put_owned(locator.to_string().into_bytes())
}

/// Tape of the result → nothing. Settles and releases a resolver.
pub fn resolve(
    state: &mut State,
    resolver: usize,
    fulfil: usize,
    length: usize,
) -> Result<usize, Failure> {
    let outcome = state.payload(length)?;
    let peer = state.peer()?;
    let resolver = peer.refs.get(resolver)?;
    let outcome = match fulfil {
        0 => Err(&outcome),
        _ => Ok(&outcome),
    };
    peer.vat.resolve(resolver, outcome);
    peer.drop(resolver);
    Ok(0)
}

/// 32 random bytes → the first frame of a connection that JavaScript opened.
pub fn challenge(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let nonce = state.array(0)?;
    state.put(&captp::challenge(&nonce))
}

/// The challenge's random bytes, the first frame from the listener → the number of the connection, plus 1; 0 if it is
/// not needed any more. Fails if the listener is not the peer that was to be reached.
pub fn dialed(
    state: &mut State,
    number: usize,
    length: usize,
    now: usize,
) -> Result<usize, Failure> {
    let nonce = state.array(0)?;
    let answer = state.range(32, length)?.to_vec();
    let peer = state.peer()?;
    let (dial, location) = peer.dials.get(number)?.clone();
    let key = PublicKey::from_designator(&location.designator)?;
    captp::verify_answer(&answer, &nonce, &key)
        .map_err(|error| Failure::new(Code::Signature, error.kind))?;
    peer.dials.free(number)?;
    let proof = lydite::ocapn::session::Proof::Verified(location);
    let connection = peer.vat.dialed(dial, proof, now as u64 * UNIT);
    Ok(peer.add(connection))
}

/// Registers a connection that a peer opened. Returns its number plus 1, or 0 if there are too many.
pub fn accepted(state: &mut State, now: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    // Only the listener proves its designator.
    let proof = lydite::ocapn::session::Proof::Claimed;
    let connection = peer.vat.accepted(0, proof, now as u64 * UNIT);
    Ok(peer.add(connection))
}

/// The first frame of a peer that opened a connection → the frame to send in return.
pub fn answer(state: &mut State, length: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let challenge = state.input(length)?.to_vec();
    let answer = captp::answer_challenge(&challenge, &state.peer()?.key);
    let answer = answer.map_err(|error| Failure::decode(error.offset, error.kind))?;
    state.put(&answer)
}

/// Reason → nothing. The connection could not be opened.
pub fn dial_failed(
    state: &mut State,
    number: usize,
    length: usize,
    _: usize,
) -> Result<usize, Failure> {
    let reason = state.text(0, length)?.to_owned();
    let peer = state.peer()?;
    let dial = peer.dials.get(number)?.0;
    peer.dials.free(number)?;
    peer.vat.dial_failed(dial, &reason);
    Ok(0)
}

/// A frame → nothing.
pub fn received(
    state: &mut State,
    number: usize,
    length: usize,
    now: usize,
) -> Result<usize, Failure> {
    let mut message = Vec::with_capacity(length + 8);
    captp::put_frame(Framing::Length, state.input(length)?, &mut message);
    let peer = state.peer()?;
    let connection = peer.links.get(number)?.connection;
    peer.vat.received(connection, &message, now as u64 * UNIT);
    Ok(0)
}

/// Whether so much waits to be sent on a connection that its frames should not be passed to `received`.
pub fn is_full(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    let connection = peer.links.get(number)?.connection;
    Ok(peer.vat.is_full(connection).into())
}

/// The next frame to send on a connection; empty if no frame is waiting.
pub fn frame(state: &mut State, number: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    let link = peer.links.get(number)?;
    if link.sent == link.taken.len() {
        (link.taken, link.sent) = (Vec::new(), 0);
        peer.vat.take_bytes(link.connection, &mut link.taken);
    }
    let rest = &link.taken[link.sent..];
    let Some(colon) = rest.iter().position(|byte| *byte == b':') else {
        return Ok(0);
    };
    let digits = rest[..colon].iter();
    let length = digits.fold(0, |value, digit| 10 * value + usize::from(digit - b'0'));
    let frame = rest[colon + 1..][..length].to_vec();
    link.sent += colon + 1 + length;
    state.put_owned(frame)
}

/// Reason → nothing. The connection is closed.
pub fn closed(state: &mut State, number: usize, length: usize, _: usize) -> Result<usize, Failure> {
    let reason = state.text(0, length)?.to_owned();
    let peer = state.peer()?;
    let connection = peer.links.get(number)?.connection;
    peer.links.free(number)?;
    peer.vat.closed(connection, &reason);
    Ok(0)
}

/// Applies deadlines. Returns the time until the next one, plus 1, or 0 without a deadline.
pub fn tick(state: &mut State, now: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    let now = now as u64 * UNIT;
    peer.vat.tick(now);
    Ok(peer.vat.deadline().map_or(0, |deadline| {
        let wait = deadline.saturating_sub(now).div_ceil(UNIT);
        wait.min(1 << 24) as usize + 1
    }))
}

/// What JavaScript has to do, as a tape: 1 and a connection that has frames to send; 2 and a connection to close after
/// its last frame; 3 and a request, then the designator and the URL to connect to. Empty if there is nothing.
pub fn output(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    let mut out = Writer::new();
    loop {
        let Some(output) = peer.vat.poll_output() else {
            return Ok(0);
        };
        match output {
            Output::Bytes(connection) => match peer.find(connection) {
                Some(number) => out.word(1, number),
                None => continue,
            },
            Output::Close(connection) => match peer.find(connection) {
                Some(number) => out.word(2, number),
                None => continue,
            },
            Output::Dial { dial, location } => {
                let mut hints = location.hints.iter().flatten();
                let url = hints.find(|(name, _)| name == "url");
                let url = url.map_or_else(String::new, |(_, url)| url.clone());
                let designator = location.designator.clone();
                out.word(3, peer.dials.add((dial, location)));
                out.text(&designator);
                out.text(&url);
            }
        }
        return state.put_owned(out.finish());
    }
}

/// What happened, as a tape: 1 and an object, whether a result is expected and if so its resolver, the arguments; 2 or 3
/// and a promise, its value or the reason for which it broke; 4 and a reference whose session ended; 5 and an object to
/// which nobody refers any more; 6 or 7 like 3, if the peer is disconnected or a limit was reached. Empty if nothing
/// happened.
pub fn event(state: &mut State, _: usize, _: usize, _: usize) -> Result<usize, Failure> {
    let peer = state.peer()?;
    while let Some(event) = peer.vat.poll_event() {
        let mut out = Writer::new();
        if peer.put_event(event, &mut out) {
            return state.put_owned(out.finish());
        }
    }
    Ok(0)
}
