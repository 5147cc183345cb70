//! The derive macros `syrup::Encode` and `syrup::Decode` of `lydite-ocapn`, where they are re-exported and documented,
//! and the attribute `object` of `lydite-ocapn-net` (feature `object`).
#![forbid(unsafe_code)]

mod expand;
#[cfg(feature = "object")]
mod object;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

use parse::Input;

/// Derives Syrup encoding for a type. See `lydite_ocapn::syrup` for the attributes.
#[proc_macro_derive(Encode, attributes(syrup))]
pub fn derive_encode(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    derive(&item, expand::encode)
}

/// Derives Syrup decoding for a type. See `lydite_ocapn::syrup` for the attributes.
#[proc_macro_derive(Decode, attributes(syrup))]
pub fn derive_decode(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    derive(&item, expand::decode)
}

fn derive(item: &DeriveInput, expand: fn(&Input) -> proc_macro2::TokenStream) -> TokenStream {
    match Input::parse(item) {
        Ok(input) => expand(&input).into(),
        Err(error) => error.into_compile_error().into(),
    }
}

/// Turns a trait into the methods of objects that can be called remotely. See `lydite_ocapn_net` for an example.
///
/// For `trait Greeter` it generates:
///
/// - `Greeter`, which objects implement: `async fn` returns a future that is `Send`.
/// - `GreeterApi`, the parameter of `Ref<GreeterApi>`; `GreeterApi::object(&node, …)` creates an object.
/// - `GreeterCalls`, which adds the methods to `Ref<GreeterApi>` and `Promise<Ref<GreeterApi>>`. Calls are sent
///   at once.
///
/// A method that is not `async` is one-way: it has no result, and its caller gets an error only if the message was not
/// sent. An `async` method may return `Result<T, E>` with any `E` that converts to `Error`; its caller gets a
/// `Promise<T>`. Parameters and results are data that implement `Encode` and `Decode`, and references.
///
/// If the first parameter of a method is a `&Context`, the object gets the node and the session of the caller there.
/// Callers do not pass it, and it is not part of the message.
///
/// Handlers start in the order of the messages and then run concurrently. With `#[object(sequential)]` each waits until
/// those before it have ended. An object that waits for a call of itself then waits forever. If 1,024 messages wait, a
/// further call breaks, and a further message without result ends the session of its sender.
///
/// The symbol of a method is its name in Rust (`set_limit`). `#[object(kebab)]` replaces each `_` by `-`, and
/// `#[symbol = "…"]` sets the symbol of one method. `#[object(crate = path)]` names a re-export of the library.
#[cfg(feature = "object")]
#[proc_macro_attribute]
pub fn object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::ItemTrait);
    match object::expand(arguments.into(), &item) {
        Ok(code) => code.into(),
        Err(error) => error.into_compile_error().into(),
    }
}
