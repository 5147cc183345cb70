//! Encoding of structs and tuples as lists of their fields.
use super::{Buffer, Decode, Encode, Error, Header, Reader};

/// A sequence of fields in a list.
pub trait Payload {
    /// Returns the length of the encoded fields in bytes.
    fn payload_len(&self) -> usize;

    /// Appends the encoded fields, without a list header.
    fn encode_payload<B: Buffer>(&self, out: &mut B);
}

/// Defines structs that are encoded as the list of their fields, in order of declaration, and decoded from it.
///
/// ```
/// use lydite_evm::rlp::{self, rlp_struct};
///
/// rlp_struct! {
///     /// A point with a name.
///     #[derive(Debug, PartialEq)]
///     pub struct Point<'a> {
///         /// Abscissa.
///         pub x: u64,
///         /// Ordinate.
///         pub y: u64,
///         /// Name.
///         pub name: &'a str,
///     }
/// }
/// let point = Point { x: 1, y: 2, name: "P" };
/// assert_eq!(rlp::encode(&point), [0xc3, 1, 2, b'P']);
/// assert_eq!(rlp::decode(&[0xc3, 1, 2, b'P']), Ok(point));
/// ```
#[macro_export]
macro_rules! rlp_struct {
    ($(
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident $(<$lifetime:lifetime>)? {
            $($(#[$field_attribute:meta])* $field_visibility:vis $field:ident: $type:ty),* $(,)?
        }
    )*) => {$(
        $(#[$attribute])*
        $visibility struct $name $(<$lifetime>)? {
            $($(#[$field_attribute])* $field_visibility $field: $type),*
        }

        impl $(<$lifetime>)? $crate::rlp::Payload for $name $(<$lifetime>)? {
            #[inline(always)]
            fn payload_len(&self) -> usize {
                0 $(+ $crate::rlp::Encode::encoded_len(&self.$field))*
            }

            #[inline(always)]
            fn encode_payload<Output: $crate::rlp::Buffer>(&self, out: &mut Output) {
                $($crate::rlp::Encode::encode(&self.$field, out);)*
            }
        }

        impl $(<$lifetime>)? $crate::rlp::Encode for $name $(<$lifetime>)? {
            #[inline]
            fn encoded_len(&self) -> usize {
                let payload_len = $crate::rlp::Payload::payload_len(self);
                $crate::rlp::Header { list: true, payload_len }.encoded_len() + payload_len
            }

            #[inline(always)]
            fn encode<Output: $crate::rlp::Buffer>(&self, out: &mut Output) {
                let payload_len = $crate::rlp::Payload::payload_len(self);
                $crate::rlp::Header { list: true, payload_len }.encode(out);
                $crate::rlp::Payload::encode_payload(self, out);
            }
        }

        $crate::rlp_struct!(@decode [$($lifetime)?] $name $($field)*);
    )*};

    (@decode [] $name:ident $($field:ident)*) => {
        $crate::rlp_struct!(@decode_impl ['input] [$name] $name $($field)*);
    };
    (@decode [$lifetime:lifetime] $name:ident $($field:ident)*) => {
        $crate::rlp_struct!(@decode_impl [$lifetime] [$name<$lifetime>] $name $($field)*);
    };
    (@decode_impl [$lifetime:lifetime] [$type:ty] $name:ident $($field:ident)*) => {
        impl<$lifetime> $crate::rlp::Decode<$lifetime> for $type {
            #[inline(always)]
            fn decode(
                reader: &mut $crate::rlp::Reader<$lifetime>,
            ) -> ::core::result::Result<Self, $crate::rlp::Error> {
                let mut fields = reader.list()?;
                let value = $name { $($field: fields.read()?),* };
                fields.finish()?;
                ::core::result::Result::Ok(value)
            }
        }
    };
}

macro_rules! tuples {
    ($(($($type:ident $field:tt),*))*) => {$(
        impl<$($type: Encode),*> Payload for ($($type,)*) {
            #[inline(always)]
            fn payload_len(&self) -> usize {
                0 $(+ self.$field.encoded_len())*
            }

            #[inline(always)]
            fn encode_payload<Output: Buffer>(&self, out: &mut Output) {
                $(self.$field.encode(out);)*
            }
        }

        impl<$($type: Encode),*> Encode for ($($type,)*) {
            #[inline]
            fn encoded_len(&self) -> usize {
                let payload_len = self.payload_len();
                Header { list: true, payload_len }.encoded_len() + payload_len
            }

            #[inline(always)]
            fn encode<Output: Buffer>(&self, out: &mut Output) {
                Header { list: true, payload_len: self.payload_len() }.encode(out);
                self.encode_payload(out);
            }
        }

        impl<'a, $($type: Decode<'a>),*> Decode<'a> for ($($type,)*) {
            #[inline(always)]
            fn decode(reader: &mut Reader<'a>) -> Result<Self, Error> {
                let mut fields = reader.list()?;
                let value = ($(fields.read::<$type>()?,)*);
                fields.finish()?;
                Ok(value)
            }
        }
    )*};
}
tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}
