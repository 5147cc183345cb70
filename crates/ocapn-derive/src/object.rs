//! The attribute `object`: a trait as the methods of objects that can be called remotely.
use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Error, FnArg, GenericArgument, Ident, ItemTrait, LitStr, Pat, Path, PathArguments,
    Result, ReturnType, TraitItem, TraitItemFn, Type, parse_quote,
};

/// Methods of references and promises, which generated ones would hide.
const TAKEN: &[&str] = &[
    "cast",
    "clone",
    "clone_from",
    "eq",
    "fmt",
    "hash",
    "into",
    "into_future",
    "ne",
    "on_broken",
    "ready",
    "reference",
    "target",
    "with_deadline",
];

struct Options {
    library: Path,
    kebab: bool,
    sequential: bool,
}

struct Method<'a> {
    item: &'a TraitItemFn,
    symbol: String,
    /// Whether the object also receives the circumstances of the call.
    context: bool,
    parameters: Vec<(&'a Ident, &'a Type)>,
    answer: Answer<'a>,
}

/// What a method returns to its caller.
enum Answer<'a> {
    /// Nothing: the method is not `async`.
    OneWay,
    /// The end of an `async` method without result.
    Done,
    /// A value.
    Value(&'a Type),
    /// The value of a `Result`.
    Fallible(&'a Type),
}

pub fn expand(arguments: TokenStream, item: &ItemTrait) -> Result<TokenStream> {
    let options = options(arguments)?;
    if let Some(parameter) = item.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "expected a trait without generic parameters",
        ));
    }
    let mut methods = Vec::new();
    let mut taken = BTreeMap::new();
    for item in &item.items {
        let TraitItem::Fn(function) = item else {
            return Err(Error::new_spanned(
                item,
                "expected only methods in this trait",
            ));
        };
        let method = method(function, &options)?;
        if let Some(other) = taken.insert(method.symbol.clone(), &function.sig.ident) {
            let message = format!("same symbol as the method `{other}`: `{}`", method.symbol);
            return Err(Error::new_spanned(&function.sig.ident, message));
        }
        methods.push(method);
    }
    Ok(generate(item, &options, &methods))
}

fn options(arguments: TokenStream) -> Result<Options> {
    let (mut library, mut kebab, mut sequential) = (None, false, false);
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("kebab") {
            kebab = true;
            Ok(())
        } else if meta.path.is_ident("sequential") {
            sequential = true;
            Ok(())
        } else if meta.path.is_ident("crate") {
            library = Some(meta.value()?.call(Path::parse_mod_style)?);
            Ok(())
        } else {
            Err(meta.error("unknown option; expected `kebab`, `sequential` or `crate`"))
        }
    });
    parser.parse2(arguments)?;
    Ok(Options {
        library: library.unwrap_or_else(|| parse_quote!(::lydite_ocapn_net)),
        kebab,
        sequential,
    })
}

fn method<'a>(item: &'a TraitItemFn, options: &Options) -> Result<Method<'a>> {
    let signature = &item.sig;
    let name = signature.ident.unraw().to_string();
    if TAKEN.contains(&name.as_str()) {
        let message = format!(
            "references have a method `{name}`; rename this one and add #[symbol = \"{name}\"]"
        );
        return Err(Error::new_spanned(&signature.ident, message));
    }
    if let Some(parameter) = signature.generics.params.first() {
        return Err(Error::new_spanned(
            parameter,
            "expected a method without generic parameters",
        ));
    }
    if let Some(body) = &item.default {
        return Err(Error::new_spanned(body, "expected a method without a body"));
    }
    if signature.constness.is_some() || signature.abi.is_some() {
        return Err(Error::new_spanned(signature, "expected `fn` or `async fn`"));
    }
    let mut inputs = signature.inputs.iter();
    match inputs.next() {
        Some(FnArg::Receiver(receiver)) if is_shared(receiver) => {}
        Some(other) => return Err(Error::new_spanned(other, "expected `&self`")),
        None => return Err(Error::new_spanned(&signature.ident, "expected `&self`")),
    }
    let (mut context, mut parameters) = (false, Vec::new());
    for (index, input) in inputs.enumerate() {
        let FnArg::Typed(input) = input else {
            return Err(Error::new_spanned(input, "expected a parameter"));
        };
        if index == 0 && is_context(&input.ty) {
            context = true;
            continue;
        }
        match &*input.pat {
            Pat::Ident(pattern) if pattern.by_ref.is_none() && pattern.mutability.is_none() => {
                parameters.push((&pattern.ident, owned(&input.ty)?));
            }
            other => return Err(Error::new_spanned(other, "expected a name")),
        }
    }
    let answer = match (&signature.output, signature.asyncness.is_some()) {
        (ReturnType::Default, false) => Answer::OneWay,
        (ReturnType::Default, true) => Answer::Done,
        (ReturnType::Type(_, ty), false) => {
            let message = "a method with a result must be `async`; without one it is one-way";
            return Err(Error::new_spanned(ty, message));
        }
        (ReturnType::Type(_, ty), true) => answer(owned(ty)?),
    };
    let symbol = match symbol(&item.attrs)? {
        Some(symbol) => symbol.value(),
        None if options.kebab => name.replace('_', "-"),
        None => name,
    };
    Ok(Method {
        item,
        symbol,
        context,
        parameters,
        answer,
    })
}

/// Whether the receiver is `&self`.
fn is_shared(receiver: &syn::Receiver) -> bool {
    let tokens = quote!(#receiver).to_string();
    tokens == "& self"
}

/// Whether the type is `&Context`, under any path of `Context`.
fn is_context(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) if reference.mutability.is_none() => match &*reference.elem {
            Type::Path(of) => of
                .path
                .segments
                .last()
                .is_some_and(|last| last.ident == "Context"),
            _ => false,
        },
        _ => false,
    }
}

/// Accepts types of values that can be decoded.
fn owned(ty: &Type) -> Result<&Type> {
    match ty {
        Type::Reference(_) | Type::ImplTrait(_) | Type::Slice(_) | Type::TraitObject(_) => Err(
            Error::new_spanned(ty, "expected an owned type, such as `String` for `&str`"),
        ),
        _ => Ok(ty),
    }
}

fn answer(ty: &Type) -> Answer<'_> {
    if let Type::Tuple(tuple) = ty
        && tuple.elems.is_empty()
    {
        return Answer::Done;
    }
    if let Type::Path(path) = ty
        && let Some(last) = path
            .path
            .segments
            .last()
            .filter(|last| last.ident == "Result")
        && let PathArguments::AngleBracketed(arguments) = &last.arguments
        && let Some(GenericArgument::Type(value)) = arguments.args.first()
    {
        return Answer::Fallible(value);
    }
    Answer::Value(ty)
}

/// The value of `#[symbol = "…"]`.
fn symbol(attributes: &[Attribute]) -> Result<Option<LitStr>> {
    let Some(attribute) = attributes
        .iter()
        .find(|attribute| attribute.path().is_ident("symbol"))
    else {
        return Ok(None);
    };
    let value = &attribute.meta.require_name_value()?.value;
    syn::parse2(quote!(#value)).map(Some)
}

fn generate(item: &ItemTrait, options: &Options, methods: &[Method<'_>]) -> TokenStream {
    let library = &options.library;
    let ItemTrait {
        attrs,
        vis,
        ident,
        supertraits,
        ..
    } = item;
    let api = format_ident!("{ident}Api");
    let calls = format_ident!("{ident}Calls");
    let object = ident.unraw().to_string();
    let bounds = supertraits.iter();
    let served = methods.iter().map(serve);
    let arms = methods.iter().map(|method| arm(options, method));
    let sequence = options
        .sequential
        .then(|| quote!(let sequence = #library::generated::Sequence::default();));
    let callers = methods.iter().map(|method| caller(library, method));
    let about_api = format!(
        "The methods of [`{ident}`], for [`Ref`]({}::Ref).",
        quote!(#library).to_string().replace(' ', "")
    );
    let about_calls =
        format!("Calls the methods of [`{ident}`] on references and on promises for them.");
    quote! {
        #(#attrs)*
        #vis trait #ident: ::core::marker::Send + ::core::marker::Sync + 'static #(+ #bounds)* {
            #(#served)*
        }

        #[doc = #about_api]
        #vis enum #api {}

        impl #api {
            /// Creates an object of the node.
            #vis fn object(node: &#library::Node, object: impl #ident) -> #library::Ref<Self> {
                let object = ::std::sync::Arc::new(object);
                #sequence
                #library::Ref::cast(#library::Node::object(node, move |call: #library::Call| {
                    let ::core::option::Option::Some(invocation) =
                        #library::generated::Invocation::new(#object, call)
                    else {
                        return;
                    };
                    match invocation.method() {
                        #(#arms)*
                        _ => invocation.unknown(),
                    }
                }))
            }
        }

        #[doc = #about_calls]
        #[allow(missing_docs)]
        #vis trait #calls: #library::Target<#api> {
            #(#callers)*
        }

        impl<T: #library::Target<#api>> #calls for T {}
    }
}

fn documents<'a>(method: &'a Method<'a>) -> impl Iterator<Item = &'a Attribute> {
    let attributes = method.item.attrs.iter();
    attributes.filter(|attribute| !attribute.path().is_ident("symbol"))
}

/// The method that an object implements.
fn serve(method: &Method<'_>) -> TokenStream {
    let attributes = documents(method);
    let mut signature = method.item.sig.clone();
    if signature.asyncness.take().is_some() {
        let output = match &method.item.sig.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, ty) => quote!(#ty),
        };
        signature.output =
            parse_quote!(-> impl ::core::future::Future<Output = #output> + ::core::marker::Send);
    }
    quote!(#(#attributes)* #signature;)
}

/// The arm of the dispatcher.
fn arm(options: &Options, method: &Method<'_>) -> TokenStream {
    let library = &options.library;
    let Method {
        symbol, parameters, ..
    } = method;
    let name = &method.item.sig.ident;
    let count = parameters.len();
    let values: Vec<Ident> = (0..count).map(|i| format_ident!("argument_{i}")).collect();
    let decoded = parameters.iter().enumerate().map(|(i, (name, ty))| {
        let name = name.unraw().to_string();
        quote_spanned!(ty.span()=> invocation.argument::<#ty>(#i, #name)?,)
    });
    let (context, given) = match method.context {
        true => (
            quote!(let context = invocation.context();),
            quote!(&context,),
        ),
        false => (quote!(), quote!()),
    };
    let start = match options.sequential {
        true => quote!(run_after(&sequence, task)),
        false => quote!(run(task)),
    };
    let called = quote!(object.#name(#given #(#values),*));
    let run = |result: TokenStream| {
        quote! {
            let object = ::std::sync::Arc::clone(&object);
            #context
            let task = async move { #result };
            invocation.#start;
        }
    };
    let ok = quote!(::core::result::Result::Ok);
    let act = match method.answer {
        Answer::OneWay if options.sequential => run(quote!(#called; #ok(#library::Done))),
        Answer::OneWay => quote!(#context #called; invocation.done();),
        Answer::Done => run(quote!(#called.await; #ok(#library::Done))),
        Answer::Value(_) => run(quote!(#ok(#called.await))),
        Answer::Fallible(ty) => run(quote_spanned! {ty.span()=>
            #called.await.map_err(::core::convert::Into::<#library::Error>::into)
        }),
    };
    quote! {
        #symbol => {
            let arguments = || -> ::core::result::Result<_, #library::Error> {
                invocation.arity(#count)?;
                #ok((#(#decoded)*))
            };
            match arguments() {
                #ok((#(#values,)*)) => { #act }
                ::core::result::Result::Err(error) => invocation.fail(error),
            }
        }
    }
}

/// The method of references.
fn caller(library: &Path, method: &Method<'_>) -> TokenStream {
    let Method {
        symbol, parameters, ..
    } = method;
    // No parameter of the method hides it.
    let list = Ident::new("list", Span::mixed_site());
    let attributes = documents(method);
    let name = &method.item.sig.ident;
    let names = parameters.iter().map(|(name, _)| name);
    let give = parameters
        .iter()
        .map(|(_, ty)| quote_spanned!(ty.span()=> impl #library::Give<#ty>));
    let put = parameters
        .iter()
        .map(|(name, ty)| quote!(#library::Give::<#ty>::give(&#name, #list)?;));
    let (function, output) = match method.answer {
        Answer::OneWay => (
            quote!(send),
            quote!(-> ::core::result::Result<(), #library::Error>),
        ),
        Answer::Done => (quote!(call), quote!(-> #library::Promise<#library::Done>)),
        Answer::Value(ty) | Answer::Fallible(ty) => {
            (quote!(call), quote!(-> #library::Promise<#ty>))
        }
    };
    let bound = match parameters.is_empty() {
        true => quote!(_),
        false => quote!(#list),
    };
    quote! {
        #(#attributes)*
        fn #name(&self, #(#names: #give),*) #output {
            #library::generated::#function(#library::Target::<_>::target(self), #symbol, |#bound| {
                #(#put)*
                ::core::result::Result::Ok(())
            })
        }
    }
}
