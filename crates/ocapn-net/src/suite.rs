//! The objects that the OCapN test suite expects under fixed swiss numbers.
//!
//! Source: the suite's README and tests at commit 6c146dc.
use lydite_ocapn::captp::{Dialect, Sturdyref, Syrup};

use crate::args;
use crate::error::Error;
use crate::node::Node;
use crate::object::Call;
use crate::passable::Passable;
use crate::reference::Reference;

/// The swiss numbers.
pub mod swiss {
    /// Builds car factories.
    pub const CAR_FACTORY_BUILDER: &[u8] = b"JadQ0++RzsD4M+40uLxTWVaVqM10DcBJ";
    /// Returns its arguments.
    pub const ECHO: &[u8] = b"IO58l1laTyhcrgDKbEzFOO32MDd6zE5w";
    /// Sends "Hello" to what it is given.
    pub const GREETER: &[u8] = b"VMDDd1voKWarCe2GvgLbxbVFysNzRPzx";
    /// Returns a promise and its resolver.
    pub const PROMISE_RESOLVER: &[u8] = b"IokCxYmMj04nos2JN1TDoY1bT8dXh6Lr";
    /// Returns the object that a sturdyref names.
    pub const STURDYREF_ENLIVENER: &[u8] = b"gi02I1qghIwPiKGKleCQAOhpy3ZtYRpB";
}

/// Publishes the objects.
pub fn publish(node: &Node) {
    node.publish(swiss::CAR_FACTORY_BUILDER, node.object(build_factory));
    node.publish(
        swiss::ECHO,
        node.function(|arguments| Ok(arguments.clone())),
    );
    node.publish(swiss::GREETER, node.object(greet));
    node.publish(swiss::PROMISE_RESOLVER, node.object(make_promise));
    node.publish(swiss::STURDYREF_ENLIVENER, node.object(enliven));
}

fn build_factory(call: Call) {
    let factory = call.node.object(make_car);
    call.settle(Ok(factory.into()));
}

fn make_car(call: Call) {
    let car = specification(&call.arguments).map(|(color, model)| {
        let noise = format!("Vroom! I am a {color} {model} car!");
        let drive = move |_: &Passable| Ok(noise.as_str().into());
        Passable::from(call.node.function(drive))
    });
    call.settle(car);
}

/// Color and model: symbols in a list.
fn specification(arguments: &Passable) -> Result<(String, String), Error> {
    let specification = arguments.item(0)?;
    let symbol = |index| {
        let item = specification.item(index)?;
        let symbol = item.as_symbol().map(str::to_owned);
        symbol.ok_or_else(|| Error::new("expected a list of two symbols: color and model"))
    };
    Ok((symbol(0)?, symbol(1)?))
}

fn greet(call: Call) {
    let greeted = call
        .arguments
        .item(0)
        .and_then(|greeted| reference(&greeted));
    // The result of the greeting is the result of the call.
    let result = greeted.map(|greeted| greeted.call(args!["Hello"]).into());
    call.settle(result);
}

fn reference(value: &Passable) -> Result<Reference, Error> {
    value
        .as_reference()
        .ok_or_else(|| Error::new("expected a reference"))
}

fn make_promise(call: Call) {
    let (promise, resolver) = call.node.promise();
    call.settle(Ok(args![promise, resolver.into_reference()]));
}

fn enliven(call: Call) {
    let object = call.arguments.item(0).and_then(|sturdyref| {
        let data = sturdyref.data();
        let decoded = Sturdyref::decode::<Syrup>(data, Dialect::Endo202608)
            .or_else(|_| Sturdyref::decode::<Syrup>(data, Dialect::Draft202607));
        let decoded =
            decoded.map_err(|error| Error::new(&format!("expected a sturdyref: {error}")))?;
        Ok(call.node.enliven_sturdyref(&decoded).into())
    });
    call.settle(object);
}
