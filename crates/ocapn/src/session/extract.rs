//! Parts of values: `op:get`, `op:index` and `op:untag`.
use alloc::boxed::Box;

use super::node::{Kind, Listener, Outcome, Reason, State, payload_of};
use super::part::{self, Marks, Part, SPACING};
use super::slab::Id;
use super::vat::Vat;

impl Vat {
    /// A promise for a part of what the promise `id` is fulfilled with. Asks the peer for it if the promise is remote,
    /// so that messages can follow at once.
    pub(super) fn part(&mut self, id: Id, part: Part) -> Id {
        if let Some(question) = self.ask_part(id, &part) {
            return question;
        }
        let into = self.new_promise();
        self.retain(into);
        self.subscribe(
            id,
            Listener::Part {
                of: part.into(),
                into,
            },
        );
        into
    }

    /// Asks a peer for a part of the promise `id`, if it is a promise of a peer.
    pub(super) fn ask_part(&mut self, id: Id, part: &Part) -> Option<Id> {
        let id = self.follow(id);
        match self.nodes.get(id).map(|node| &node.kind) {
            Some(Kind::Remote {
                remote,
                promise: Some(_),
            }) => {
                let remote = *remote;
                self.send_part(id, remote, part)
            }
            _ => None,
        }
    }

    /// The part of what a promise has become, if it has settled.
    pub(super) fn settled_part(&mut self, id: Id, part: &Part) -> Option<Outcome> {
        let promise = self.nodes.get_mut(id)?.promise_mut()?;
        let mut more = 0;
        let found = match &mut promise.state {
            State::Fulfilled(value, marks) => {
                if marks.is_none() && value.data.len() > SPACING {
                    let made = Marks::new(value);
                    more = made.size();
                    *marks = Some(Box::new(made));
                }
                part::part(value, marks.as_deref(), part).map_err(Reason::from)
            }
            State::Broken(reason) => Err(reason.clone()),
            _ => return None,
        };
        for reference in payload_of(&found).refs() {
            self.retain(reference.0);
        }
        self.charge(id, more);
        Some(found)
    }
}
