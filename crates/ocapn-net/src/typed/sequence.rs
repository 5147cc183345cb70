//! Handlers that run one after the other.
use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use crate::node::Node;

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs the handlers of an object in the order of the messages, one at a time. Clones are the same sequence.
#[derive(Clone, Default)]
pub struct Sequence(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Whether a handler runs.
    busy: bool,
    waiting: VecDeque<Task>,
}

impl fmt::Debug for Sequence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sequence").finish_non_exhaustive()
    }
}

impl Sequence {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_full(&self, node: &Node) -> bool {
        self.state().waiting.len() >= node.shared().most_waiting
    }

    /// Starts the task now, or when those before it have ended.
    pub(crate) fn start(&self, node: &Node, task: impl Future<Output = ()> + Send + 'static) {
        let task: Task = Box::pin(task);
        {
            let mut state = self.state();
            if state.busy {
                return state.waiting.push_back(task);
            }
            state.busy = true;
        }
        let mut running = Running(Some(self.clone()));
        node.start_task(async move {
            let mut next = Some(task);
            while let Some(mut task) = next {
                // A panic breaks the reply, which is dropped with the task. The panic hook has reported it.
                poll_fn(|context| {
                    catch_unwind(AssertUnwindSafe(|| task.as_mut().poll(context)))
                        .unwrap_or(Poll::Ready(()))
                })
                .await;
                drop(task);
                next = running.next();
            }
        });
    }
}

/// The sequence while its handlers run. If the runtime drops them, the sequence is idle again, without those that wait.
struct Running(Option<Sequence>);

impl Running {
    fn next(&mut self) -> Option<Task> {
        let mut state = self.0.as_ref()?.state();
        let next = state.waiting.pop_front();
        state.busy = next.is_some();
        drop(state);
        if next.is_none() {
            self.0 = None;
        }
        next
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(sequence) = &self.0 {
            let mut state = sequence.state();
            state.busy = false;
            let waiting = std::mem::take(&mut state.waiting);
            drop(state);
            drop(waiting);
        }
    }
}
