#![allow(clippy::unwrap_used)]
use syn::{DeriveInput, parse_str};

use crate::expand;
use crate::parse::Input;

/// The error message for a type, or an empty string.
fn refusal(item: &str) -> String {
    let item: DeriveInput = parse_str(item).unwrap();
    match Input::parse(&item) {
        Err(error) => error.to_string(),
        Ok(_) => String::new(),
    }
}

#[test]
fn refusals_say_what_to_do() {
    for (item, message) in [
        ("union U { a: u8 }", "a union has no encoding"),
        ("enum E {}", "an enum without variants has no values"),
        (
            "struct S;",
            "what is a struct without fields? A record: #[syrup(record = \"…\")]",
        ),
        (
            "#[syrup(record = \"a\")] enum E { A }",
            "`record` belongs to a variant",
        ),
        ("enum E { #[syrup(list)] A }", "`list` belongs to the type"),
        (
            "enum E { #[syrup(crate = a)] A }",
            "`crate` belongs to the type",
        ),
        (
            "enum E { #[syrup(symbol = \"a\")] A(u8) }",
            "`symbol` belongs to a variant without fields",
        ),
        (
            "enum E { #[syrup(symbol = \"a\", string_label)] A }",
            "`string_label` belongs to a record",
        ),
        (
            "enum E { A, #[syrup(record = \"A\")] B(u8) }",
            "on the wire this is the same as `A`",
        ),
        (
            "#[syrup(symbol = \"a\")] struct S { a: u8 }",
            "`symbol` belongs to a variant without fields",
        ),
        (
            "#[syrup(string_label)] struct S { a: u8 }",
            "`string_label` belongs to a record: #[syrup(record = \"…\")]",
        ),
        (
            "#[syrup(record = \"a\", list)] struct S { a: u8 }",
            "one of `record`, `list` and `symbol`",
        ),
        (
            "#[syrup(record = \"a\", record = \"b\")] struct S;",
            "there twice",
        ),
        (
            "#[syrup(recrod = \"a\")] struct S;",
            "unknown attribute; there are `record`, `string_label`, `list`, `symbol`, `crate`",
        ),
        ("#[syrup(record)] struct S;", "expected `=`"),
        ("#[syrup(record = 1)] struct S;", "expected string literal"),
        (
            "struct S { a: u8, #[syrup(key = \"a\")] b: u8 }",
            "the key `a` is there twice",
        ),
        (
            "struct S { #[syrup(kee = \"a\")] b: u8 }",
            "unknown attribute of a field; there are `key`, `optional`, `or_false`",
        ),
        (
            "struct S { #[syrup(optional, or_false)] b: Option<u8> }",
            "one of `optional` and `or_false`, once",
        ),
        (
            "#[syrup(record = \"a\")] struct S { #[syrup(key = \"b\")] b: u8 }",
            "`key` and `optional` are for dictionaries: here a field is known by its place",
        ),
        (
            "enum E { A { #[syrup(optional)] b: Option<u8> } }",
            "`key` and `optional` are for dictionaries: here a field is known by its place",
        ),
        (
            "struct S(#[syrup(or_false)] Option<u8>);",
            "`or_false` is for records, lists and dictionaries",
        ),
        (
            "struct S { #[syrup(or_false)] b: Option<bool> }",
            "`or_false` would make one of `None` and `Some(false)`",
        ),
        (
            "struct S { #[syrup(or_false)] b: ::core::option::Option<bool> }",
            "`or_false` would make one of `None` and `Some(false)`",
        ),
    ] {
        assert_eq!(refusal(item), message, "{item}");
    }
}

#[test]
fn other_names_of_the_library_are_used() {
    let item = "#[syrup(crate = lydite::ocapn, record = \"a\")] struct S<T> { a: T }";
    let item: DeriveInput = parse_str(item).unwrap();
    let input = Input::parse(&item).unwrap();
    for code in [expand::encode(&input), expand::decode(&input)] {
        let code = code.to_string();
        assert!(code.contains("lydite :: ocapn :: syrup"));
        assert!(!code.contains("lydite_ocapn"));
    }
}
