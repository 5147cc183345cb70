//! Parses and checks a type and its attributes.
use std::collections::BTreeMap;

use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::meta::ParseNestedMeta;
use syn::spanned::Spanned as _;
use syn::{
    Attribute, Data, DeriveInput, Error, Fields, GenericArgument, Generics, Ident, LitStr, Member,
    Path, PathArguments, Result, Type, TypePath, parse_quote,
};

/// A type to derive for.
pub struct Input {
    pub ident: Ident,
    pub generics: Generics,
    /// The path of `lydite_ocapn`.
    pub library: Path,
    pub shape: Shape,
}

/// The form of a type on the wire.
pub enum Shape {
    /// Keys and values, sorted by encoded key.
    Dictionary(Vec<(Vec<u8>, Field)>),
    /// Values in order.
    Sequence(Sequence),
    /// The value of the only field, without a container.
    Transparent(Field),
    /// One of several variants.
    Choice(Vec<(Ident, Sequence)>),
}

/// A container and its values.
pub struct Sequence {
    pub container: Container,
    /// The opening bracket and the label of a record, or the complete encoding of a symbol.
    pub opener: Vec<u8>,
    pub fields: Vec<Field>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Container {
    Record,
    List,
    /// A symbol without a container.
    Symbol,
}

pub struct Field {
    pub member: Member,
    /// The span of the field's type, for compiler messages.
    pub span: Span,
    pub form: Form,
}

/// How a field's value is encoded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Plain,
    /// An `Option` whose `None` is `f`.
    OrFalse,
    /// An `Option` whose `None` omits the key.
    Optional,
}

/// `#[syrup(…)]` of a type or variant.
#[derive(Default)]
struct Attributes {
    library: Option<Path>,
    record: Option<LitStr>,
    string_label: Option<Span>,
    list: Option<Span>,
    symbol: Option<LitStr>,
}

impl Input {
    pub fn parse(item: &DeriveInput) -> Result<Self> {
        let attributes = Attributes::parse(&item.attrs)?;
        let shape = match &item.data {
            Data::Struct(data) => structure(&item.ident, &attributes, &data.fields)?,
            Data::Enum(data) => {
                attributes.none_of(&["record", "string_label", "list", "symbol"], "a variant")?;
                if data.variants.is_empty() {
                    return Err(Error::new_spanned(
                        &item.ident,
                        "expected an enum with at least one variant",
                    ));
                }
                let mut variants = Vec::new();
                let mut taken = BTreeMap::new();
                for variant in &data.variants {
                    let attributes = Attributes::parse(&variant.attrs)?;
                    attributes.none_of(&["crate", "list"], "the type")?;
                    let sequence = attributes.sequence(&variant.ident, &variant.fields)?;
                    if let Some(other) = taken.insert(sequence.opener.clone(), &variant.ident) {
                        let message = format!("same encoding as the variant `{other}`");
                        return Err(Error::new_spanned(&variant.ident, message));
                    }
                    variants.push((variant.ident.clone(), sequence));
                }
                Shape::Choice(variants)
            }
            Data::Union(data) => {
                return Err(Error::new_spanned(
                    data.union_token,
                    "expected a struct or an enum, found a union",
                ));
            }
        };
        Ok(Self {
            ident: item.ident.clone(),
            generics: item.generics.clone(),
            library: attributes
                .library
                .unwrap_or_else(|| parse_quote!(::lydite_ocapn)),
            shape,
        })
    }
}

fn structure(ident: &Ident, attributes: &Attributes, fields: &Fields) -> Result<Shape> {
    attributes.none_of(&["symbol"], "a variant without fields")?;
    if attributes.record.is_some() {
        return Ok(Shape::Sequence(attributes.sequence(ident, fields)?));
    }
    attributes.none_of(&["string_label"], "a record: #[syrup(record = \"…\")]")?;
    match fields {
        Fields::Named(_) if attributes.list.is_none() => dictionary(fields),
        Fields::Unit => Err(Error::new_spanned(
            ident,
            "a struct without fields must be a record: #[syrup(record = \"…\")]",
        )),
        Fields::Unnamed(unnamed) if attributes.list.is_none() && unnamed.unnamed.len() == 1 => {
            let mut fields = positional(fields)?;
            match fields.pop() {
                Some(field) if field.form == Form::Plain => Ok(Shape::Transparent(field)),
                _ => Err(Error::new_spanned(
                    ident,
                    "`or_false` is only allowed in records, lists and dictionaries",
                )),
            }
        }
        _ => Ok(Shape::Sequence(Sequence {
            container: Container::List,
            opener: b"[".to_vec(),
            fields: positional(fields)?,
        })),
    }
}

fn dictionary(fields: &Fields) -> Result<Shape> {
    let mut entries = BTreeMap::new();
    for (member, field) in fields.members().zip(fields) {
        let (key, form) = field_attributes(field)?;
        let name = match (&key, &member) {
            (Some(key), _) => key.value(),
            (None, Member::Named(name)) => name.unraw().to_string(),
            (None, Member::Unnamed(index)) => index.index.to_string(),
        };
        let entry = Field {
            member,
            span: field.ty.span(),
            form,
        };
        if entries.insert(text(b'"', &name), entry).is_some() {
            return Err(Error::new_spanned(field, format!("duplicate key `{name}`")));
        }
    }
    Ok(Shape::Dictionary(entries.into_iter().collect()))
}

/// The fields of a record or a list.
fn positional(fields: &Fields) -> Result<Vec<Field>> {
    let mut all = Vec::new();
    for (member, field) in fields.members().zip(fields) {
        let (key, form) = field_attributes(field)?;
        if key.is_some() || form == Form::Optional {
            let message = "`key` and `optional` are only allowed in dictionaries; these fields are positional";
            return Err(Error::new_spanned(field, message));
        }
        let span = field.ty.span();
        all.push(Field { member, span, form });
    }
    Ok(all)
}

fn field_attributes(field: &syn::Field) -> Result<(Option<LitStr>, Form)> {
    let (mut key, mut form) = (None, Form::Plain);
    each(&field.attrs, |meta| {
        let mut set = |to| match core::mem::replace(&mut form, to) {
            Form::Plain => Ok(()),
            _ => Err(meta.error("expected at most one of `optional` and `or_false`")),
        };
        if meta.path.is_ident("key") {
            once(&mut key, &meta, string(&meta)?)
        } else if meta.path.is_ident("optional") {
            set(Form::Optional)
        } else if meta.path.is_ident("or_false") {
            set(Form::OrFalse)
        } else {
            Err(meta.error("unknown field attribute; expected `key`, `optional` or `or_false`"))
        }
    })?;
    if form == Form::OrFalse && is_optional_bool(&field.ty) {
        return Err(Error::new_spanned(
            &field.ty,
            "`or_false` cannot distinguish `None` from `Some(false)`",
        ));
    }
    Ok((key, form))
}

/// Whether the type is `Option<bool>`, under any path of `Option`.
fn is_optional_bool(ty: &Type) -> bool {
    let Type::Path(TypePath { path, .. }) = ty else {
        return false;
    };
    let Some(last) = path.segments.last().filter(|last| last.ident == "Option") else {
        return false;
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return false;
    };
    matches!(arguments.args.first(), Some(GenericArgument::Type(Type::Path(of))) if of.path.is_ident("bool"))
}

impl Attributes {
    fn parse(attributes: &[Attribute]) -> Result<Self> {
        let mut all = Self::default();
        each(attributes, |meta| {
            let span = meta
                .path
                .get_ident()
                .map_or_else(Span::call_site, Ident::span);
            if meta.path.is_ident("record") {
                once(&mut all.record, &meta, string(&meta)?)
            } else if meta.path.is_ident("symbol") {
                once(&mut all.symbol, &meta, string(&meta)?)
            } else if meta.path.is_ident("string_label") {
                once(&mut all.string_label, &meta, span)
            } else if meta.path.is_ident("list") {
                once(&mut all.list, &meta, span)
            } else if meta.path.is_ident("crate") {
                once(
                    &mut all.library,
                    &meta,
                    meta.value()?.call(Path::parse_mod_style)?,
                )
            } else {
                Err(meta.error(
                    "unknown attribute; expected `record`, `string_label`, `list`, `symbol` or `crate`",
                ))
            }
        })?;
        if let (Some(record), true) = (&all.record, all.list.is_some() || all.symbol.is_some()) {
            return Err(Error::new(
                record.span(),
                "expected at most one of `record`, `list` and `symbol`",
            ));
        }
        Ok(all)
    }

    /// Fails if one of these attributes is present. They belong to `owner`.
    fn none_of(&self, names: &[&str], owner: &str) -> Result<()> {
        let library = self.library.as_ref().and_then(|path| path.segments.first());
        let there = [
            ("crate", library.map(|segment| segment.ident.span())),
            ("record", self.record.as_ref().map(LitStr::span)),
            ("string_label", self.string_label),
            ("list", self.list),
            ("symbol", self.symbol.as_ref().map(LitStr::span)),
        ];
        for (name, span) in there {
            if let (Some(span), true) = (span, names.contains(&name)) {
                return Err(Error::new(
                    span,
                    format!("`{name}` is only allowed on {owner}"),
                ));
            }
        }
        Ok(())
    }

    /// Builds a record or a symbol.
    fn sequence(&self, ident: &Ident, fields: &Fields) -> Result<Sequence> {
        if let Some(symbol) = &self.symbol {
            self.none_of(&["string_label"], "a record")?;
            if !fields.is_empty() {
                return Err(Error::new(
                    symbol.span(),
                    "`symbol` is only allowed on a variant without fields",
                ));
            }
            return Ok(Sequence {
                container: Container::Symbol,
                opener: text(b'\'', &symbol.value()),
                fields: Vec::new(),
            });
        }
        let label = match &self.record {
            Some(label) => label.value(),
            None => ident.unraw().to_string(),
        };
        let marker = if self.string_label.is_some() {
            b'"'
        } else {
            b'\''
        };
        let mut opener = text(marker, &label);
        opener.insert(0, b'<');
        Ok(Sequence {
            container: Container::Record,
            opener,
            fields: positional(fields)?,
        })
    }
}

/// Calls `take` with each item of each `#[syrup(…)]`.
fn each(
    attributes: &[Attribute],
    mut take: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let ours = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("syrup"));
    ours.into_iter()
        .try_for_each(|attribute| attribute.parse_nested_meta(&mut take))
}

fn string(meta: &ParseNestedMeta<'_>) -> Result<LitStr> {
    meta.value()?.parse()
}

fn once<T>(place: &mut Option<T>, meta: &ParseNestedMeta<'_>, value: T) -> Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(meta.error("duplicate attribute")),
    }
}

/// The encoding of `text` as a string (`"`) or symbol (`'`).
fn text(marker: u8, text: &str) -> Vec<u8> {
    let mut encoded = text.len().to_string().into_bytes();
    encoded.push(marker);
    encoded.extend_from_slice(text.as_bytes());
    encoded
}
