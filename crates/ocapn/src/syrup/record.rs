//! Rust structs as dictionaries and records, their keys and labels encoded and sorted at compile time.
use super::{Buffer, Error, ErrorKind, Kind, Reader};

/// Longest encoding of a key or label of a macro, with the bracket before it.
const KEY: usize = 65;

/// The encoding of a key or label.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Key {
    bytes: [u8; KEY],
    len: usize,
}

impl Key {
    /// `text` as string (`"`) or symbol (`'`). Fails to compile if it is longer than 61 bytes.
    pub const fn new(marker: u8, text: &str) -> Self {
        Self::EMPTY.then(marker, text)
    }

    /// A record's opening bracket and label.
    pub const fn label(marker: u8, text: &str) -> Self {
        Self::EMPTY.push(b'<').then(marker, text)
    }

    const EMPTY: Self = Self {
        bytes: [0; KEY],
        len: 0,
    };

    const fn then(self, marker: u8, text: &str) -> Self {
        let text = text.as_bytes();
        let mut key = self;
        if text.len() >= 10 {
            key = key.push(b'0' + (text.len() / 10) as u8);
        }
        key = key.push(b'0' + (text.len() % 10) as u8).push(marker);
        let mut i = 0;
        while i < text.len() {
            key = key.push(text[i]);
            i += 1;
        }
        key
    }

    const fn push(mut self, byte: u8) -> Self {
        self.bytes[self.len] = byte;
        self.len += 1;
        self
    }

    #[inline(always)]
    pub const fn as_bytes(&self) -> &[u8] {
        self.bytes.split_at(self.len).0
    }

    const fn is_before(&self, other: &Self) -> bool {
        let mut i = 0;
        // Neither is the start of the other.
        while self.bytes[i] == other.bytes[i] {
            i += 1;
        }
        self.bytes[i] < other.bytes[i]
    }

    /// The keys with the bracket of the dictionary before the one that comes first.
    pub const fn opened<const N: usize>(keys: &[Self; N], order: [usize; N]) -> [Self; N] {
        let mut keys = *keys;
        if N > 0 {
            let mut opened = Self::EMPTY.push(b'{');
            let (first, mut i) = (keys[order[0]], 0);
            while i < first.len {
                opened = opened.push(first.bytes[i]);
                i += 1;
            }
            keys[order[0]] = opened;
        }
        keys
    }

    /// Appends it, in one window if it is short.
    #[inline(always)]
    pub fn put<B: Buffer>(&self, out: &mut B) {
        match self.len {
            0..=8 => put_window::<8, B>(self, out),
            9..=16 => put_window::<16, B>(self, out),
            17..=32 => put_window::<32, B>(self, out),
            _ => out.put_slice(self.as_bytes()),
        }
    }

    /// Which key comes first, second and so on.
    pub const fn order<const N: usize>(keys: &[Self; N]) -> [usize; N] {
        let mut order = [0; N];
        let mut i = 1;
        while i < N {
            let mut place = i;
            while place > 0 && keys[i].is_before(&keys[order[place - 1]]) {
                order[place] = order[place - 1];
                place -= 1;
            }
            order[place] = i;
            i += 1;
        }
        order
    }
}

#[inline(always)]
fn put_window<const N: usize, B: Buffer>(key: &Key, out: &mut B) {
    match key.bytes.first_chunk::<N>() {
        Some(window) => out.put(window, key.len),
        None => out.put_slice(key.as_bytes()),
    }
}

impl Reader<'_> {
    /// Takes the opening bracket of this container with the label or key behind it, or fails with `kind`.
    #[doc(hidden)]
    #[inline(always)]
    pub fn open(&mut self, key: &Key, container: Kind, kind: ErrorKind) -> Result<(), Error> {
        if self.descend(key.as_bytes()) {
            Ok(())
        } else {
            Err(self.not_opened(container, kind))
        }
    }

    #[cold]
    #[inline(never)]
    fn not_opened(self, container: Kind, kind: ErrorKind) -> Error {
        let mut reader = self;
        match reader.begin(container) {
            Err(error) => error,
            Ok(()) => reader.another(kind),
        }
    }

    /// Takes this label or key, or fails with `kind`.
    #[doc(hidden)]
    #[inline(always)]
    pub fn expect(&mut self, key: &Key, kind: ErrorKind) -> Result<(), Error> {
        if self.literal(key.as_bytes()) {
            Ok(())
        } else {
            Err(self.another(kind))
        }
    }

    /// What is wrong with the next value, or else that it is not the wanted one.
    #[cold]
    #[inline(never)]
    fn another(self, kind: ErrorKind) -> Error {
        let mut reader = self;
        match reader.raw() {
            Err(error) => error,
            Ok(_) => kind.at(self.offset()),
        }
    }
}

/// Defines structs that are dictionaries with string keys: what OCapN calls a struct. All keys must be there and no others.
///
/// A key is the name of the field, or what follows `=`. The order of the fields does not matter: the keys are sorted at
/// compile time.
///
/// ```
/// use lydite_ocapn::syrup::{self, syrup_struct};
///
/// syrup_struct! {
///     /// Where a server listens.
///     #[derive(Debug, PartialEq)]
///     pub struct Config<'a> {
///         /// Name or address.
///         pub host: &'a str,
///         /// Number of the port.
///         pub port: u16,
///         /// Whether it listens at all.
///         pub enabled: bool = "on?",
///     }
/// }
/// let config = Config { host: "localhost", port: 8080, enabled: true };
/// let encoded = syrup::encode(&config)?;
/// assert_eq!(encoded, b"{3\"on?t4\"host9\"localhost4\"port8080+}");
/// assert_eq!(syrup::decode::<Config>(&encoded)?, config);
/// # Ok::<(), syrup::Error>(())
/// ```
#[macro_export]
macro_rules! syrup_struct {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident $(<$lifetime:lifetime>)? {
            $($(#[$field_attribute:meta])* $field_visibility:vis $field:ident: $type:ty $(= $key:literal)?),+ $(,)?
        }
    )*) => {$(
        $(#[$attribute])*
        $visibility struct $name $(<$lifetime>)? {
            $($(#[$field_attribute])* $field_visibility $field: $type),*
        }

        const _: () = {
            #[allow(non_camel_case_types)]
            enum Field { $($field),* }
            const KEYS: &[$crate::syrup::Key; [$(Field::$field as usize),*].len()] = &[
                $($crate::syrup::Key::new(b'"', $crate::syrup_struct!(@key $field $($key)?))),*
            ];
            const ORDER: [usize; KEYS.len()] = $crate::syrup::Key::order(KEYS);
            /// The same with the bracket before the first in order.
            const OPENED: [$crate::syrup::Key; KEYS.len()] = $crate::syrup::Key::opened(KEYS, ORDER);

            impl $(<$lifetime>)? $name $(<$lifetime>)? {
                /// Appends the field of this number with its key.
                #[inline(always)]
                fn __encode_entry<Output: $crate::syrup::Buffer>(
                    &self,
                    field: usize,
                    out: &mut Output,
                ) -> ::core::result::Result<(), $crate::syrup::Error> {
                    $(if field == Field::$field as usize {
                        const KEY: &$crate::syrup::Key = &OPENED[Field::$field as usize];
                        KEY.put(out);
                        return $crate::syrup::Encode::encode(&self.$field, out);
                    })*
                    ::core::result::Result::Ok(())
                }
            }

            impl $(<$lifetime>)? $crate::syrup::Encode for $name $(<$lifetime>)? {
                #[inline(always)]
                fn encode<Output: $crate::syrup::Buffer>(
                    &self,
                    out: &mut Output,
                ) -> ::core::result::Result<(), $crate::syrup::Error> {
                    if KEYS.is_empty() {
                        $crate::syrup::Buffer::put(out, b"{", 1);
                    }
                    // As many steps as fields, each with the field whose turn it is.
                    $(self.__encode_entry(const { ORDER[Field::$field as usize] }, out)?;)*
                    $crate::syrup::Buffer::put(out, b"}", 1);
                    ::core::result::Result::Ok(())
                }
            }

            $crate::syrup_struct!(@decode [$($lifetime)?] $name $($field: $type),*);
        };
    )*};

    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };

    (@decode [] $name:ident $($field:ident: $type:ty),*) => {
        $crate::syrup_struct!(@decode_impl ['input] [$name] $name $($field: $type),*);
    };
    (@decode [$lifetime:lifetime] $name:ident $($field:ident: $type:ty),*) => {
        $crate::syrup_struct!(@decode_impl [$lifetime] [$name<$lifetime>] $name $($field: $type),*);
    };
    (@decode_impl [$lifetime:lifetime] [$self:ty] $name:ident $($field:ident: $type:ty),*) => {
        impl<$lifetime> $crate::syrup::Decode<$lifetime> for $self {
            #[inline(always)]
            fn decode(
                reader: &mut $crate::syrup::Reader<$lifetime>,
            ) -> ::core::result::Result<Self, $crate::syrup::Error> {
                struct Fields<$lifetime> {
                    $($field: ::core::option::Option<$type>,)*
                    lifetime: ::core::marker::PhantomData<&$lifetime ()>,
                }
                impl<$lifetime> Fields<$lifetime> {
                    /// Takes the key and the value of the field of this number.
                    #[inline(always)]
                    fn decode_entry(
                        &mut self,
                        field: usize,
                        reader: &mut $crate::syrup::Reader<$lifetime>,
                    ) -> ::core::result::Result<(), $crate::syrup::Error> {
                        $(if field == Field::$field as usize {
                            const KEY: &$crate::syrup::Key = &OPENED[Field::$field as usize];
                            let wrong = $crate::syrup::ErrorKind::WrongKey;
                            if ORDER[0] == field {
                                reader.open(KEY, $crate::syrup::Kind::Dictionary, wrong)?;
                            } else {
                                reader.expect(KEY, wrong)?;
                            }
                            self.$field = ::core::option::Option::Some(reader.read()?);
                        })*
                        ::core::result::Result::Ok(())
                    }
                }
                if KEYS.is_empty() {
                    reader.begin($crate::syrup::Kind::Dictionary)?;
                }
                let mut fields = Fields {
                    $($field: ::core::option::Option::None,)*
                    lifetime: ::core::marker::PhantomData,
                };
                $(fields.decode_entry(const { ORDER[Field::$field as usize] }, reader)?;)*
                reader.end($crate::syrup::Kind::Dictionary)?;
                match fields {
                    Fields { $($field: ::core::option::Option::Some($field),)* .. } => {
                        ::core::result::Result::Ok($name { $($field),* })
                    }
                    // Not reached: the order has every field.
                    _ => ::core::result::Result::Err($crate::syrup::Error {
                        kind: $crate::syrup::ErrorKind::WrongKey,
                        offset: reader.offset(),
                    }),
                }
            }
        }
    };
}

/// Defines structs that are records: a label, then the fields in order of declaration. The label is a symbol, or a string
/// after `= string`.
///
/// ```
/// use lydite_ocapn::syrup::{self, syrup_record, Symbol};
///
/// syrup_record! {
///     /// An object that the other side exports.
///     #[derive(Debug, PartialEq)]
///     pub struct Export = "desc:export" {
///         /// Its number.
///         pub position: u64,
///     }
///
///     #[derive(Debug, PartialEq)]
///     struct Invoke<'a> = string "skill:invoke" { skill: Symbol<&'a str> }
/// }
/// assert_eq!(syrup::encode(&Export { position: 42 })?, b"<11'desc:export42+>");
/// assert_eq!(syrup::decode(b"<12\"skill:invoke4'play>"), Ok(Invoke { skill: Symbol("play") }));
/// # Ok::<(), syrup::Error>(())
/// ```
#[macro_export]
macro_rules! syrup_record {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident $(<$lifetime:lifetime>)? = $($marker:ident)? $label:literal {
            $($(#[$field_attribute:meta])* $field_visibility:vis $field:ident: $type:ty),* $(,)?
        }
    )*) => {$(
        $(#[$attribute])*
        $visibility struct $name $(<$lifetime>)? {
            $($(#[$field_attribute])* $field_visibility $field: $type),*
        }

        const _: () = {
            const LABEL: &$crate::syrup::Key =
                &$crate::syrup::Key::label($crate::syrup_record!(@marker $($marker)?), $label);

            impl $(<$lifetime>)? $crate::syrup::Encode for $name $(<$lifetime>)? {
                #[inline(always)]
                fn encode<Output: $crate::syrup::Buffer>(
                    &self,
                    out: &mut Output,
                ) -> ::core::result::Result<(), $crate::syrup::Error> {
                    LABEL.put(out);
                    $($crate::syrup::Encode::encode(&self.$field, out)?;)*
                    $crate::syrup::Buffer::put(out, b">", 1);
                    ::core::result::Result::Ok(())
                }
            }

            $crate::syrup_record!(@decode [$($lifetime)?] $name $($field)*);
        };
    )*};

    (@marker) => { b'\'' };
    (@marker string) => { b'"' };

    (@decode [] $name:ident $($field:ident)*) => {
        $crate::syrup_record!(@decode_impl ['input] [$name] $name $($field)*);
    };
    (@decode [$lifetime:lifetime] $name:ident $($field:ident)*) => {
        $crate::syrup_record!(@decode_impl [$lifetime] [$name<$lifetime>] $name $($field)*);
    };
    (@decode_impl [$lifetime:lifetime] [$self:ty] $name:ident $($field:ident)*) => {
        impl<$lifetime> $crate::syrup::Decode<$lifetime> for $self {
            #[inline(always)]
            fn decode(
                reader: &mut $crate::syrup::Reader<$lifetime>,
            ) -> ::core::result::Result<Self, $crate::syrup::Error> {
                reader.open(LABEL, $crate::syrup::Kind::Record, $crate::syrup::ErrorKind::WrongLabel)?;
                let value = $name { $($field: reader.read()?),* };
                reader.end($crate::syrup::Kind::Record)?;
                ::core::result::Result::Ok(value)
            }
        }
    };
}
