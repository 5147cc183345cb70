//! Each call is a span, which contains no argument.
#![allow(clippy::unwrap_used, missing_docs)]
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use lydite_ocapn_net::{Error, Network, Node, Promise, Ref, object};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, field};

#[object]
trait Safe {
    async fn open(&self, code: String) -> Result<String, Error>;
    fn knock(&self, code: String);
}

struct Steel;

impl Safe for Steel {
    async fn open(&self, code: String) -> Result<String, Error> {
        tokio::task::yield_now().await;
        tracing::debug!(target: "handler", "opens");
        match code.as_str() {
            "right-secret" => Ok("gold-secret".into()),
            _ => Err(Error::new("wrong-secret")),
        }
    }

    fn knock(&self, _: String) {}
}

#[derive(Clone, Debug, Default)]
struct Span {
    name: &'static str,
    fields: HashMap<&'static str, String>,
    references: usize,
    /// Events within it.
    events: usize,
}

impl field::Visit for Span {
    fn record_debug(&mut self, field: &field::Field, value: &dyn fmt::Debug) {
        self.fields.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &field::Field, value: &str) {
        self.fields.insert(field.name(), value.into());
    }
}

/// Keeps all spans.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Span>>>);

thread_local! {
    static ENTERED: std::cell::RefCell<Vec<usize>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn index(id: &Id) -> usize {
    id.into_u64() as usize - 1
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        ["captp", "handler"].contains(&metadata.target())
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut span = Span {
            name: attributes.metadata().name(),
            references: 1,
            ..Span::default()
        };
        attributes.record(&mut span);
        let mut spans = self.0.lock().unwrap();
        spans.push(span);
        Id::from_u64(spans.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        values.record(&mut self.0.lock().unwrap()[index(span)]);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        let within = ENTERED.with(|entered| entered.borrow().last().copied());
        self.0.lock().unwrap()[within.unwrap()].events += 1;
    }

    fn enter(&self, span: &Id) {
        ENTERED.with(|entered| entered.borrow_mut().push(index(span)));
    }

    fn exit(&self, _: &Id) {
        ENTERED.with(|entered| entered.borrow_mut().pop());
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.0.lock().unwrap()[index(id)].references += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let span = &mut self.0.lock().unwrap()[index(&id)];
        span.references -= 1;
        span.references == 0
    }
}

/// One test, since the subscriber is that of all threads.
#[test]
fn calls_are_spans_without_arguments() {
    let recorder = Recorder::default();
    tracing::subscriber::set_global_default(recorder.clone()).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let network = Network::default();
        let start = |name| {
            let netlayer = network.join(name).unwrap();
            Node::builder().netlayer(netlayer).start().unwrap()
        };
        let (alice, bob) = (start("alice"), start("bob"));
        bob.publish(b"safe", SafeApi::object(&bob, Steel));
        let safe: Promise<Ref<SafeApi>> = alice.enliven(&bob.locator(b"safe").unwrap()).cast();
        let safe = safe.await.unwrap();
        safe.knock("right-secret").unwrap();
        assert!(safe.open("right-secret").await.is_ok());
        assert!(safe.open("other-secret").await.is_err());
        drop(safe.open("right-secret"));
        bob.shutdown();
        safe.on_broken().await;
        assert!(safe.open("right-secret").await.is_err());
        drop((safe, alice, bob));
    });
    runtime.shutdown_timeout(Duration::from_secs(5));

    let spans = recorder.0.lock().unwrap().clone();
    let outcomes = |name: &str| -> Vec<(String, String)> {
        let named = spans.iter().filter(|span| span.name == name);
        let field = |span: &Span, field| span.fields.get(field).cloned().unwrap_or_default();
        named
            .map(|span| (field(span, "method"), field(span, "outcome")))
            .collect()
    };
    let pair = |method: &str, outcome: &str| (format!("{method:?}"), outcome.to_owned());
    let called = [
        pair("knock", "sent"),
        pair("open", "fulfilled"),
        pair("open", "broken"),
        pair("open", "dropped"),
        pair("open", "disconnected"),
    ];
    assert_eq!(outcomes("call"), called);
    let served = outcomes("serve");
    let expected = [
        pair("knock", ""),
        pair("open", "fulfilled"),
        pair("open", "broken"),
    ];
    assert_eq!(served[..3], expected);

    for span in &spans {
        assert_eq!(span.references, 0, "ended: {span:?}");
        assert!(!format!("{span:?}").contains("secret"), "{span:?}");
        // What a handler logs is within its span, also after it has waited.
        let opened = span.name == "serve" && span.fields["method"].contains("open");
        if opened && span.fields.contains_key("outcome") {
            assert_eq!(span.events, 1, "{span:?}");
        }
    }
    let open = spans.iter().find(|span| span.fields.contains_key("answer"));
    let open = &open.unwrap().fields;
    assert!(open["session"].contains("Connection"), "{open:?}");
    assert!(open["position"].contains("Export"), "{open:?}");
    assert!(open["answer"].contains("Answer"), "{open:?}");
}
