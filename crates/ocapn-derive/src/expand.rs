//! Code generation. All constant parts of an encoding are byte strings: a bracket and the label or key after it are
//! written and compared in one piece.
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, Lifetime, WherePredicate, parse_quote};

use crate::parse::{Container, Field, Form, Input, Sequence, Shape};

pub fn encode(input: &Input) -> TokenStream {
    let Input { ident, library, .. } = input;
    let syrup = quote!(#library::syrup);
    let body = match &input.shape {
        Shape::Dictionary(entries) => {
            let fields = entries.iter().map(|(_, field)| field);
            let (pattern, names) = bind(fields);
            let entries = dictionary_entries(&syrup, entries, &names);
            quote! {
                let Self { #pattern } = self;
                #entries
            }
        }
        Shape::Sequence(sequence) => {
            let (pattern, names) = bind(&sequence.fields);
            let values = values(&syrup, sequence, &names);
            quote! {
                let Self { #pattern } = self;
                #values
            }
        }
        Shape::Transparent(field) => {
            let member = &field.member;
            quote_spanned!(field.span=> #syrup::Encode::encode(&self.#member, out)?;)
        }
        Shape::Choice(variants) => {
            let arms = variants.iter().map(|(variant, sequence)| {
                let (pattern, names) = bind(&sequence.fields);
                let values = values(&syrup, sequence, &names);
                quote!(Self::#variant { #pattern } => { #values })
            });
            quote!(match self { #(#arms)* })
        }
    };
    let mut generics = input.generics.clone();
    let bounds: Vec<WherePredicate> = generics
        .type_params()
        .map(|parameter| {
            let parameter = &parameter.ident;
            parse_quote!(#parameter: #syrup::Encode)
        })
        .collect();
    generics.make_where_clause().predicates.extend(bounds);
    let (parameters, arguments, conditions) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #syrup::Encode for #ident #arguments #conditions {
            #[inline(always)]
            fn encode<SyrupBuffer: #syrup::Buffer>(
                &self,
                out: &mut SyrupBuffer,
            ) -> ::core::result::Result<(), #syrup::Error> {
                #body
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// Returns a pattern that binds these fields, and the name bound to each.
fn bind<'a>(fields: impl IntoIterator<Item = &'a Field>) -> (TokenStream, Vec<Ident>) {
    let (mut pattern, mut names) = (TokenStream::new(), Vec::new());
    for (i, Field { member, .. }) in fields.into_iter().enumerate() {
        let name = format_ident!("field_{i}");
        pattern.extend(quote!(#member: #name,));
        names.push(name);
    }
    (pattern, names)
}

/// Appends constant bytes, in one window if they are short.
fn put(syrup: &TokenStream, bytes: &[u8]) -> TokenStream {
    let used = bytes.len();
    let windows = [1, 2, 4, 8, 16, 32];
    match windows.into_iter().find(|window| used <= *window) {
        Some(window) => {
            let mut padded = bytes.to_vec();
            padded.resize(window, 0);
            let padded = Literal::byte_string(&padded);
            quote!(#syrup::Buffer::put(out, #padded, #used);)
        }
        None => {
            let bytes = Literal::byte_string(bytes);
            quote!(#syrup::Buffer::put_slice(out, #bytes);)
        }
    }
}

fn put_value(syrup: &TokenStream, field: &Field, name: &Ident) -> TokenStream {
    quote_spanned!(field.span=> #syrup::Encode::encode(#name, out)?;)
}

/// The statements that append the entries, which are already sorted.
fn dictionary_entries(
    syrup: &TokenStream,
    entries: &[(Vec<u8>, Field)],
    names: &[Ident],
) -> TokenStream {
    let mut statements = TokenStream::new();
    let (mut bracket, close) = (vec![b'{'], put(syrup, b"}"));
    if opens_alone(entries) {
        statements.extend(put(syrup, &bracket));
        bracket.clear();
    }
    for ((key, field), name) in entries.iter().zip(names) {
        let opener = [bracket.as_slice(), key.as_slice()].concat();
        bracket.clear();
        let key = put(syrup, &opener);
        let value = put_value(syrup, field, name);
        statements.extend(match field.form {
            Form::Plain => quote!(#key #value),
            Form::Optional => {
                quote!(if let ::core::option::Option::Some(#name) = #name { #key #value })
            }
            Form::OrFalse => {
                let or_false = or_false(syrup, &value, name);
                quote!(#key #or_false)
            }
        });
    }
    quote!(#statements #close)
}

/// Whether the opening bracket of a dictionary is written without the first key.
fn opens_alone(entries: &[(Vec<u8>, Field)]) -> bool {
    entries
        .first()
        .is_none_or(|(_, field)| field.form == Form::Optional)
}

fn or_false(syrup: &TokenStream, value: &TokenStream, name: &Ident) -> TokenStream {
    let absent = put(syrup, b"f");
    quote!(match #name {
        ::core::option::Option::Some(#name) => { #value }
        ::core::option::Option::None => { #absent }
    })
}

/// The statements that append the values, with brackets and label.
fn values(syrup: &TokenStream, sequence: &Sequence, names: &[Ident]) -> TokenStream {
    let close: &[u8] = match sequence.container {
        Container::Record => b">",
        Container::List => b"]",
        Container::Symbol => b"",
    };
    if sequence.fields.is_empty() {
        return put(syrup, &[sequence.opener.as_slice(), close].concat());
    }
    let (open, close) = (put(syrup, &sequence.opener), put(syrup, close));
    let values = sequence.fields.iter().zip(names).map(|(field, name)| {
        let value = put_value(syrup, field, name);
        match field.form {
            Form::OrFalse => or_false(syrup, &value, name),
            _ => value,
        }
    });
    quote!(#open #(#values)* #close)
}

pub fn decode(input: &Input) -> TokenStream {
    let Input { ident, library, .. } = input;
    let syrup = quote!(#library::syrup);
    let body = match &input.shape {
        Shape::Dictionary(entries) => read_entries(&syrup, entries),
        Shape::Sequence(sequence) => read_sequence(&syrup, sequence),
        Shape::Transparent(field) => {
            let (member, value) = (&field.member, read(field));
            quote!(let value = Self { #member: #value };)
        }
        Shape::Choice(variants) => return choice(input, &syrup, variants),
    };
    implement(
        input,
        &syrup,
        &quote!(#[inline(always)]),
        &quote! {
            #body
            ::core::result::Result::Ok(value)
        },
        ident,
    )
}

fn choice(input: &Input, syrup: &TokenStream, variants: &[(Ident, Sequence)]) -> TokenStream {
    let tries = variants.iter().map(|(variant, sequence)| {
        let opener = Literal::byte_string(&sequence.opener);
        if sequence.container == Container::Symbol {
            return quote! {
                if reader.literal(#opener) {
                    return ::core::result::Result::Ok(Self::#variant {});
                }
            };
        }
        let fields = read_fields(&sequence.fields);
        quote! {
            if reader.descend(#opener) {
                let value = Self::#variant { #fields };
                reader.end(#syrup::Kind::Record)?;
                return ::core::result::Result::Ok(value);
            }
        }
    });
    let has = |wanted| {
        variants
            .iter()
            .any(|(_, sequence)| sequence.container == wanted)
    };
    let (records, symbols) = (has(Container::Record), has(Container::Symbol));
    implement(
        input,
        syrup,
        &quote!(#[inline]),
        &quote! {
            #(#tries)*
            ::core::result::Result::Err(reader.no_variant(#records, #symbols))
        },
        &input.ident,
    )
}

/// `impl Decode`. The lifetime of the input is the type's lifetime if it has exactly one.
fn implement(
    input: &Input,
    syrup: &TokenStream,
    inline: &TokenStream,
    body: &TokenStream,
    ident: &Ident,
) -> TokenStream {
    let mut generics = input.generics.clone();
    let own: Vec<Lifetime> = generics
        .lifetimes()
        .map(|parameter| parameter.lifetime.clone())
        .collect();
    let from: Lifetime = match own.as_slice() {
        [one] => one.clone(),
        _ => parse_quote!('syrup),
    };
    let bounds: Vec<WherePredicate> = generics
        .type_params()
        .map(|parameter| {
            let parameter = &parameter.ident;
            parse_quote!(#parameter: #syrup::Decode<#from>)
        })
        .collect();
    generics.make_where_clause().predicates.extend(bounds);
    let with_input = {
        let mut generics = generics.clone();
        if own.len() != 1 {
            generics.params.insert(0, parse_quote!('syrup: #(#own)+*));
        }
        generics
    };
    let (parameters, _, _) = with_input.split_for_impl();
    let (_, arguments, conditions) = generics.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #parameters #syrup::Decode<#from> for #ident #arguments #conditions {
            #inline
            fn decode(
                reader: &mut #syrup::Reader<#from>,
            ) -> ::core::result::Result<Self, #syrup::Error> {
                #body
            }
        }
    }
}

fn read(field: &Field) -> TokenStream {
    let value = quote_spanned!(field.span=> reader.read()?);
    match field.form {
        Form::OrFalse => quote! {
            if reader.literal(b"f") {
                ::core::option::Option::None
            } else {
                ::core::option::Option::Some(#value)
            }
        },
        _ => value,
    }
}

fn read_fields(fields: &[Field]) -> TokenStream {
    fields
        .iter()
        .map(|field| {
            let (member, value) = (&field.member, read(field));
            quote!(#member: #value,)
        })
        .collect()
}

fn read_sequence(syrup: &TokenStream, sequence: &Sequence) -> TokenStream {
    let opener = Literal::byte_string(&sequence.opener);
    let fields = read_fields(&sequence.fields);
    let (open, kind) = match sequence.container {
        Container::List => (quote!(begin(#syrup::Kind::List)), quote!(List)),
        _ => (
            quote!(open(#opener, #syrup::Kind::Record, #syrup::ErrorKind::WrongLabel)),
            quote!(Record),
        ),
    };
    quote! {
        reader.#open?;
        let value = Self { #fields };
        reader.end(#syrup::Kind::#kind)?;
    }
}

fn read_entries(syrup: &TokenStream, entries: &[(Vec<u8>, Field)]) -> TokenStream {
    let mut statements = TokenStream::new();
    let alone = opens_alone(entries);
    if alone {
        statements.extend(quote!(reader.begin(#syrup::Kind::Dictionary)?;));
    }
    let (pattern, names) = bind(entries.iter().map(|(_, field)| field));
    for (i, ((key, field), name)) in entries.iter().zip(&names).enumerate() {
        let value = read(field);
        let wrong = quote!(#syrup::ErrorKind::WrongKey);
        statements.extend(if i == 0 && !alone {
            let opener = Literal::byte_string(&[b"{", key.as_slice()].concat());
            quote! {
                reader.open(#opener, #syrup::Kind::Dictionary, #wrong)?;
                let #name = #value;
            }
        } else {
            let key = Literal::byte_string(key);
            match field.form {
                Form::Optional => quote! {
                    let #name = if reader.literal(#key) {
                        ::core::option::Option::Some(#value)
                    } else {
                        ::core::option::Option::None
                    };
                },
                _ => quote! {
                    reader.expect(#key, #wrong)?;
                    let #name = #value;
                },
            }
        });
    }
    quote! {
        #statements
        reader.end(#syrup::Kind::Dictionary)?;
        let value = Self { #pattern };
    }
}
