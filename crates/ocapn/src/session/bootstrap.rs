//! The bootstrap object, ours and those of peers.
use lydite_hash::sha256;

use super::node::Reason;
use super::payload::Payload;
use super::slab::Id;
use super::vat::Vat;
use crate::captp::Target;
use crate::syrup::Reader;

impl Vat {
    /// The object with this swiss number.
    pub(super) fn published(&self, swiss: &[u8]) -> Option<Id> {
        self.published.get(&sha256(swiss)).copied()
    }

    /// A message to our bootstrap object.
    pub(super) fn bootstrap_call(
        &mut self,
        payload: Payload,
        result: Option<Id>,
        origin: Option<Id>,
    ) {
        let answer = self.bootstrap_answer(&payload, result, origin);
        self.release_payload(payload);
        match answer {
            Ok(Answer::Object(object)) => {
                let outcome = Ok(self.as_payload(object));
                self.finish(result, outcome);
            }
            Ok(Answer::Done) => self.finish(result, Ok(Payload::list(|_| {}))),
            // The result settles later and was retained for that.
            Ok(Answer::Later) => result.into_iter().for_each(|result| self.release(result)),
            Err(reason) => self.refuse(result, reason),
        }
    }

    fn bootstrap_answer(
        &mut self,
        payload: &Payload,
        result: Option<Id>,
        origin: Option<Id>,
    ) -> Result<Answer, &'static str> {
        let items = payload.items_within(3).unwrap_or_default();
        let method = items.first().and_then(Payload::as_symbol);
        let peer = "only a peer can do this";
        match (method, items.get(1..).unwrap_or_default()) {
            (Some("fetch"), [swiss]) => {
                let mut reader = Reader::new(swiss.data());
                let swiss = reader
                    .bytes()
                    .or_else(|_| reader.string().map(str::as_bytes));
                let swiss = swiss.map_err(|_| "expected a byte array")?;
                let object = self.published(swiss);
                object
                    .map(Answer::Object)
                    .ok_or("no object has this swiss number")
            }
            (Some("deposit-gift"), [gift, reference]) => {
                let gift = Reader::new(gift.data())
                    .bytes()
                    .map_err(|_| "expected a byte array")?;
                let reference = reference.as_reference().ok_or("expected a reference")?;
                self.deposit(origin.ok_or(peer)?, gift, reference.0)?;
                Ok(Answer::Done)
            }
            (Some("withdraw-gift"), [envelope]) => {
                self.serve_withdrawal(origin.ok_or(peer)?, envelope.data(), result)
            }
            _ => Err("the bootstrap object has no such method"),
        }
    }

    /// Asks a peer for the object with this swiss number.
    pub(super) fn fetch(&mut self, session: Id, swiss: &[u8]) -> Result<Id, Reason> {
        let arguments = Payload::list(|list| {
            list.symbol("fetch").bytes(swiss);
        });
        self.ask(session, Target::Export(0), &arguments)
    }
}

/// What the bootstrap object answers.
pub(super) enum Answer {
    Object(Id),
    Done,
    Later,
}
