//! Promises that keep each other, which counting references does not free.
//!
//! A value or reason keeps what it refers to, a promise that has not settled what waits for it, and a resolver its
//! promise. A peer with resolvers can close a circle: a list is the value of a promise and contains it, a promise is
//! fulfilled with the result of a message that waits for it, or a message that waits contains the resolver.
use alloc::{vec, vec::Vec};

use super::node::{Kind, Listener, Node, Outcome, Promise, Reason, State, payload_of};
use super::slab::Id;
use super::vat::{Vat, Work};

const UNREACHABLE: &str = "nobody can refer to this promise";

impl Vat {
    /// Counts the memory of an outcome that may close a circle. Circles are searched for once this exceeds the limit
    /// `values`.
    pub(super) fn suspect(&mut self, outcome: &Outcome) {
        let payload = payload_of(outcome);
        if !payload.refs().is_empty() {
            let size = size_of::<Node>() + size_of::<Promise>() + payload.size();
            self.suspected = self.suspected.saturating_add(size);
        }
    }

    /// Counts the references and the bytes of values of a session that ended, which may be left in circles. These are
    /// searched for at once if the references are many in comparison with all nodes, so that peers who come and go cause
    /// little work.
    pub(super) fn suspect_ended(&mut self, references: usize, values: usize) {
        self.suspected = match references.saturating_mul(16) >= self.nodes.len() {
            true => usize::MAX,
            false => {
                let size = references * (size_of::<Node>() + size_of::<Promise>()) + values;
                self.suspected.saturating_add(size)
            }
        };
    }

    /// Whether to search for circles. `usize::MAX` is above every limit.
    pub(super) fn has_suspects(&self) -> bool {
        self.suspected > self.config.limits.values.min(usize::MAX - 1)
    }

    /// Breaks the promises that only other nodes keep. Call it when no other work is left. Takes time proportional to
    /// the number of nodes of the vat.
    pub(super) fn break_circles(&mut self) {
        self.suspected = 0;
        let ids = self.nodes.ids();
        let slots = ids.last().map_or(0, |id| id.index as usize + 1);
        let mut kept = vec![0; slots];
        for node in ids.iter().filter_map(|id| self.nodes.get(*id)) {
            node.each_kept(|id| {
                if self.nodes.get(id).is_some() {
                    kept[id.index as usize] += 1;
                }
            });
        }
        // The roots: nodes that tables or the caller refer to, and promises that a peer settles.
        let mut reached = vec![false; slots];
        let mut next: Vec<Id> = Vec::new();
        for &id in &ids {
            let is_root = self.nodes.get(id).is_some_and(|node| {
                let is_remote = matches!(node.kind, Kind::Remote { .. });
                node.handles > 0
                    || node.refs > kept[id.index as usize]
                    || is_remote && node.is_pending()
            });
            if is_root {
                reached[id.index as usize] = true;
                next.push(id);
            }
        }
        while let Some(node) = next.pop().and_then(|id| self.nodes.get(id)) {
            let mut reach = |id: Id| {
                if self.nodes.get(id).is_some() && !reached[id.index as usize] {
                    reached[id.index as usize] = true;
                    next.push(id);
                }
            };
            match node.kind {
                Kind::Resolver(promise) => reach(promise),
                _ => node.each_kept(reach),
            }
        }
        for id in ids {
            if reached[id.index as usize] {
                continue;
            }
            let Some(promise) = self.nodes.get_mut(id).and_then(Node::promise_mut) else {
                continue;
            };
            let (keeper, size) = (promise.kept_for, promise.size());
            let outcome = match &mut promise.state {
                State::Pending(_) => {
                    self.work.push(Work::Settle {
                        promise: id,
                        outcome: Err(UNREACHABLE.into()),
                    });
                    continue;
                }
                State::Following(_) => continue,
                State::Fulfilled(value, _) => Ok(core::mem::take(value)),
                State::Broken(reason) => Err(Reason::from(core::mem::take(&mut reason.value))),
            };
            promise.state = State::Broken(UNREACHABLE.into());
            promise.kept_for = None;
            self.discharge(keeper, size);
            self.release_outcome(outcome);
        }
    }
}

impl Node {
    /// Calls `each` with each reference that the node counts.
    fn each_kept(&self, mut each: impl FnMut(Id)) {
        let Some(promise) = self.promise() else {
            return;
        };
        let payload = match &promise.state {
            State::Following(other) => return each(*other),
            State::Fulfilled(value, _) => value,
            State::Broken(reason) => &reason.value,
            State::Pending(pending) => {
                for listener in pending.iter() {
                    if let Listener::Part { into, .. } = listener {
                        each(*into);
                    }
                }
                for message in pending.messages() {
                    message
                        .payload
                        .refs()
                        .iter()
                        .for_each(|reference| each(reference.0));
                    message.result.into_iter().for_each(&mut each);
                }
                return;
            }
        };
        payload
            .refs()
            .iter()
            .for_each(|reference| each(reference.0));
    }
}
