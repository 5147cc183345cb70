//! The derive macros `syrup::Encode` and `syrup::Decode` of `lydite-ocapn`, where they are re-exported and documented.
#![forbid(unsafe_code)]

mod expand;
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
