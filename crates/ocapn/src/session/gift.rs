//! Handoffs between three parties: we may be the gifter, the receiver or the exporter.
use alloc::{boxed::Box, vec::Vec};

use super::bootstrap::Answer;
use super::config::Location;
use super::connection::Waiter;
use super::node::{DISCONNECTED, Reason, Remote, disconnected, not_encoded};
use super::payload::Builder;
use super::receive::Stop;
use super::slab::Id;
use super::vat::{Gift, GiftKey, GiftState, Timer, Vat, Work};
use crate::captp::{
    Codec as _, HandoffGive, HandoffReceive, Operation, SecretKey, Signed, Syrup, Target,
    Write as _,
};

impl Vat {
    /// As the gifter: deposits the object of a peer there and writes the certificate that lets `receiver` fetch it.
    pub(super) fn put_give(
        &mut self,
        receiver: Id,
        remote: Remote,
        out: &mut Vec<u8>,
    ) -> Result<(), Reason> {
        let gift = self.entropy.next();
        let mut arguments = Vec::new();
        {
            let mut writer = Syrup::writer(&mut arguments);
            writer.begin_list();
            writer.symbol("deposit-gift");
            writer.bytes(&gift);
            remote.target().write(&mut writer);
            writer.end_list();
        }
        let receiver = self
            .sessions
            .get(receiver)
            .and_then(|session| session.peer.as_ref());
        let receiver_key = receiver.ok_or_else(disconnected)?.key;
        let deposit = Operation::Deliver {
            to: Target::Export(0),
            arguments: &arguments,
            answer: None,
            resolver: None,
        };
        self.write(remote.session, &deposit)?;
        let session = self.sessions.get(remote.session).ok_or_else(disconnected)?;
        let exporter = session.peer.as_ref().ok_or_else(disconnected)?;
        let give = HandoffGive {
            receiver_key,
            exporter: exporter.location.peer(),
            session: exporter.session_id,
            gifter_side: session.our_id,
            gift: &gift,
        };
        let signed =
            Signed::sign::<Syrup>(&session.key, give).map_err(|error| not_encoded(&error))?;
        signed.write(&mut Syrup::writer(out));
        Ok(())
    }

    /// As the receiver: a promise for the gift, with one reference for the caller.
    pub(super) fn receive_gift(&mut self, gifter: Id, envelope: &[u8]) -> Result<Id, Stop> {
        let signed = Signed::<HandoffGive<'_>>::decode::<Syrup>(envelope)?;
        let give = signed.unverified();
        let exporter = Location::from(&give.exporter);
        let own = self.is_own(&exporter);
        let key = exporter.key();
        let is_known = self.peers.contains_key(&key) || self.dialing.contains_key(&key);
        let connections = self.sessions.len() + self.dials.len();
        let config = &self.config;
        let limits = &config.limits;
        let session = self.sessions.get_mut(gifter).ok_or(Stop::Ended)?;
        let refusal = if session.key.public_key() != give.receiver_key {
            Some("the handoff is for another receiver".into())
        } else if !limits.allow_location(&give.exporter) || give.gift.len() > limits.gift_id {
            Some(Reason::limit("location or gift id too long"))
        } else if session.handoffs >= limits.handoffs {
            Some(Reason::limit("too many handoffs at once"))
        } else if !own && !is_known && connections >= limits.connections / 2 {
            Some(Reason::limit("too many connections for a handoff"))
        } else {
            None
        };
        let key = Box::new(session.key.clone());
        // A fixed framing says nothing about what the peer prefers elsewhere.
        let framing = match config.fixed_framing(config.transport(session.location)) {
            Some(_) => None,
            None => session.framing,
        };
        let promise = match refusal {
            Some(reason) => self.broken(reason),
            None if own => match self.take_own_gift(&signed) {
                Some(node) => return Ok(node),
                None => self.broken("no such gift"),
            },
            None => {
                session.handoffs += 1;
                let promise = self.new_promise();
                let waiter = Waiter::Withdraw {
                    promise,
                    envelope: envelope.into(),
                    key,
                    gifter,
                };
                self.wait_for_session(exporter, waiter, framing);
                promise
            }
        };
        self.retain(promise);
        Ok(promise)
    }

    /// A gift that was deposited here and is for ourselves.
    fn take_own_gift(&mut self, signed: &Signed<'_, HandoffGive<'_>>) -> Option<Id> {
        let give = signed.unverified();
        let gifter = *self.session_ids.get(&give.session)?;
        let peer = self.sessions.get(gifter)?.peer.as_ref()?;
        signed.verify(&peer.key).ok()?;
        self.take_gift(&GiftKey {
            session: give.session,
            gift: give.gift.into(),
        })
    }

    /// Removes a deposited gift; its reference passes to the caller.
    fn take_gift(&mut self, key: &GiftKey) -> Option<Id> {
        let GiftState::Deposited { node, gifter } = self.gifts.get(key)?.state else {
            return None;
        };
        self.remove_gift(key);
        if let Some(session) = self.sessions.get_mut(gifter) {
            session.gifts -= 1;
        }
        Some(node)
    }

    /// A handoff from this gifter no longer waits for a connection.
    pub(super) fn end_handoff(&mut self, gifter: Id) {
        if let Some(session) = self.sessions.get_mut(gifter) {
            session.handoffs = session.handoffs.saturating_sub(1);
        }
    }

    /// As the receiver: fetches the gift on the session with the exporter.
    pub(super) fn withdraw(
        &mut self,
        exporter: Id,
        envelope: &[u8],
        key: &SecretKey,
    ) -> Result<Id, Reason> {
        let give = Signed::decode::<Syrup>(envelope).map_err(|error| not_encoded(&error))?;
        let session = self.sessions.get_mut(exporter).ok_or_else(disconnected)?;
        let receive = HandoffReceive {
            session: session.peer.as_ref().ok_or_else(disconnected)?.session_id,
            receiver_side: session.our_id,
            count: session.next_count,
            give,
        };
        session.next_count += 1;
        let signed = Signed::sign::<Syrup>(key, receive).map_err(|error| not_encoded(&error))?;
        let mut encoded = Vec::new();
        signed.write(&mut Syrup::writer(&mut encoded));
        let mut arguments = Builder::default();
        arguments.begin_list().symbol("withdraw-gift").raw(&encoded);
        arguments.end_list();
        self.ask(exporter, Target::Export(0), &arguments.finish())
    }

    /// As the exporter: keeps a gift, or gives it to who waits for it.
    pub(super) fn deposit(
        &mut self,
        gifter: Id,
        gift: &[u8],
        node: Id,
    ) -> Result<(), &'static str> {
        if gift.len() > self.config.limits.gift_id {
            return Err("gift id too long");
        }
        let session = self.sessions.get_mut(gifter).ok_or(DISCONNECTED)?;
        let key = GiftKey {
            session: session.peer.as_ref().ok_or(DISCONNECTED)?.session_id,
            gift: gift.into(),
        };
        match self.gifts.get(&key).map(|gift| &gift.state) {
            Some(GiftState::Deposited { .. }) => Err("there is a gift with this id"),
            Some(GiftState::Awaited { promise, receiver }) => {
                let (promise, receiver) = (*promise, *receiver);
                self.remove_gift(&key);
                if let Some(session) = self.sessions.get_mut(receiver) {
                    session.withdrawals -= 1;
                }
                let outcome = Ok(self.as_payload(node));
                self.finish(Some(promise), outcome);
                Ok(())
            }
            None => {
                if session.gifts >= self.config.limits.gifts {
                    return Err("too many gifts");
                }
                session.gifts += 1;
                self.retain(node);
                self.insert_gift(key, GiftState::Deposited { node, gifter });
                Ok(())
            }
        }
    }

    /// As the exporter: checks a certificate and gives the gift. Checks that cost nothing come first.
    pub(super) fn serve_withdrawal(
        &mut self,
        receiver: Id,
        envelope: &[u8],
        result: Option<Id>,
    ) -> Result<Answer, &'static str> {
        let malformed = "expected a signed handoff-receive";
        let signed =
            Signed::<HandoffReceive<'_>>::decode::<Syrup>(envelope).map_err(|_| malformed)?;
        let receive = signed.unverified();
        let give = receive.give.unverified();
        let session = self.sessions.get(receiver).ok_or(DISCONNECTED)?;
        let peer = session.peer.as_ref().ok_or(DISCONNECTED)?;
        if receive.session != peer.session_id {
            return Err("the handoff is for another session");
        }
        if receive.receiver_side != peer.id {
            return Err("the handoff is for another side of the session");
        }
        let gifter = self.session_ids.get(&give.session);
        let gifter = *gifter.ok_or("there is no session with the gifter")?;
        let gifter_peer = self
            .sessions
            .get(gifter)
            .and_then(|session| session.peer.as_ref());
        let gifter_peer = gifter_peer.ok_or("there is no session with the gifter")?;
        if give.gifter_side != gifter_peer.id {
            return Err("the handoff is from another side of the session");
        }
        if !self.is_own(&Location::from(&give.exporter)) {
            return Err("the handoff is for another exporter");
        }
        if receive.count == u64::MAX || session.has_used(receive.count) {
            return Err("the handoff count was used before");
        }
        if give.gift.len() > self.config.limits.gift_id {
            return Err("gift id too long");
        }
        let gifter_key = gifter_peer.key;
        self.spend_signatures(receiver, 2)?;
        signed
            .verify_handoff(&gifter_key)
            .map_err(|_| "the handoff's signature is invalid")?;
        let session = self.sessions.get_mut(receiver).ok_or(DISCONNECTED)?;
        session.counts.get_or_insert_default().record(receive.count);
        let key = GiftKey {
            session: give.session,
            gift: give.gift.into(),
        };
        if let Some(node) = self.take_gift(&key) {
            self.release(node);
            return Ok(Answer::Object(node));
        }
        if self.gifts.contains_key(&key) {
            return Err("somebody waits for this gift already");
        }
        let Some(promise) = result else {
            return Err("nobody waits for the result");
        };
        let session = self.sessions.get_mut(receiver).ok_or(DISCONNECTED)?;
        if session.withdrawals >= self.config.limits.withdrawals {
            return Err("too many withdrawals wait");
        }
        session.withdrawals += 1;
        self.retain(promise);
        self.insert_gift(key, GiftState::Awaited { promise, receiver });
        Ok(Answer::Later)
    }

    fn insert_gift(&mut self, key: GiftKey, state: GiftState) {
        let deadline = self.after(self.config.limits.gift_time);
        self.timers.insert((deadline, Timer::Gift(key.clone())));
        self.gifts.insert(key, Gift { state, deadline });
    }

    fn remove_gift(&mut self, key: &GiftKey) -> Option<Gift> {
        let gift = self.gifts.remove(key)?;
        self.timers
            .remove(&(gift.deadline, Timer::Gift(key.clone())));
        Some(gift)
    }

    /// Takes tokens from a bucket that fills by the limit each second.
    fn spend_signatures(&mut self, session: Id, tokens: u32) -> Result<(), &'static str> {
        let most = self.config.limits.signatures;
        let session = self.sessions.get_mut(session).ok_or(DISCONNECTED)?;
        let (left, since) = session.signatures;
        let gained = (self.now - since).min(1000) * u64::from(most) / 1000;
        let left = most.min(left + gained as u32);
        session.signatures = if gained > 0 {
            (left, self.now)
        } else {
            (left, since)
        };
        session.signatures.0 = left
            .checked_sub(tokens)
            .ok_or("too many signatures to check")?;
        Ok(())
    }

    /// Drops what a session deposited, and what it or its receivers wait for.
    pub(super) fn drop_gifts(&mut self, id: Id, session_id: &[u8; 32], waits: bool) {
        let from = GiftKey {
            session: *session_id,
            gift: Vec::new(),
        };
        let own = self.gifts.range(from..);
        let own = own.take_while(|(key, _)| key.session == *session_id);
        let mut keys: Vec<GiftKey> = own.map(|(key, _)| key.clone()).collect();
        if waits {
            let awaited = |gift: &Gift| matches!(gift.state, GiftState::Awaited { receiver, .. } if receiver == id);
            let others = self.gifts.iter().filter(|(_, gift)| awaited(gift));
            keys.extend(others.map(|(key, _)| key.clone()));
        }
        for key in keys {
            self.drop_gift(&key, "the session with the gifter ended");
        }
    }

    pub(super) fn drop_gift(&mut self, key: &GiftKey, reason: &str) {
        let Some(gift) = self.remove_gift(key) else {
            return;
        };
        match gift.state {
            GiftState::Deposited { node, gifter } => {
                self.release(node);
                if let Some(session) = self.sessions.get_mut(gifter) {
                    session.gifts -= 1;
                }
            }
            GiftState::Awaited { promise, receiver } => {
                if let Some(session) = self.sessions.get_mut(receiver) {
                    session.withdrawals -= 1;
                }
                let outcome = Err(reason.into());
                self.work.push(Work::Settle { promise, outcome });
                self.release(promise);
            }
        }
    }
}
