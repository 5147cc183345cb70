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
        (
            "union U { a: u8 }",
            "expected a struct or an enum, found a union",
        ),
        ("enum E {}", "expected an enum with at least one variant"),
        (
            "struct S;",
            "a struct without fields must be a record: #[syrup(record = \"…\")]",
        ),
        (
            "#[syrup(record = \"a\")] enum E { A }",
            "`record` is only allowed on a variant",
        ),
        (
            "enum E { #[syrup(list)] A }",
            "`list` is only allowed on the type",
        ),
        (
            "enum E { #[syrup(crate = a)] A }",
            "`crate` is only allowed on the type",
        ),
        (
            "enum E { #[syrup(symbol = \"a\")] A(u8) }",
            "`symbol` is only allowed on a variant without fields",
        ),
        (
            "enum E { #[syrup(symbol = \"a\", string_label)] A }",
            "`string_label` is only allowed on a record",
        ),
        (
            "enum E { A, #[syrup(record = \"A\")] B(u8) }",
            "same encoding as the variant `A`",
        ),
        (
            "#[syrup(symbol = \"a\")] struct S { a: u8 }",
            "`symbol` is only allowed on a variant without fields",
        ),
        (
            "#[syrup(string_label)] struct S { a: u8 }",
            "`string_label` is only allowed on a record: #[syrup(record = \"…\")]",
        ),
        (
            "#[syrup(record = \"a\", list)] struct S { a: u8 }",
            "expected at most one of `record`, `list` and `symbol`",
        ),
        (
            "#[syrup(record = \"a\", record = \"b\")] struct S;",
            "duplicate attribute",
        ),
        (
            "#[syrup(recrod = \"a\")] struct S;",
            "unknown attribute; expected `record`, `string_label`, `list`, `symbol` or `crate`",
        ),
        ("#[syrup(record)] struct S;", "expected `=`"),
        ("#[syrup(record = 1)] struct S;", "expected string literal"),
        (
            "struct S { a: u8, #[syrup(key = \"a\")] b: u8 }",
            "duplicate key `a`",
        ),
        (
            "struct S { #[syrup(kee = \"a\")] b: u8 }",
            "unknown field attribute; expected `key`, `optional` or `or_false`",
        ),
        (
            "struct S { #[syrup(optional, or_false)] b: Option<u8> }",
            "expected at most one of `optional` and `or_false`",
        ),
        (
            "#[syrup(record = \"a\")] struct S { #[syrup(key = \"b\")] b: u8 }",
            "`key` and `optional` are only allowed in dictionaries; these fields are positional",
        ),
        (
            "enum E { A { #[syrup(optional)] b: Option<u8> } }",
            "`key` and `optional` are only allowed in dictionaries; these fields are positional",
        ),
        (
            "struct S(#[syrup(or_false)] Option<u8>);",
            "`or_false` is only allowed in records, lists and dictionaries",
        ),
        (
            "struct S { #[syrup(or_false)] b: Option<bool> }",
            "`or_false` cannot distinguish `None` from `Some(false)`",
        ),
        (
            "struct S { #[syrup(or_false)] b: ::core::option::Option<bool> }",
            "`or_false` cannot distinguish `None` from `Some(false)`",
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

#[cfg(feature = "object")]
mod objects {
    use crate::object::expand;

    fn refusal(options: &str, item: &str) -> String {
        let options = options.parse().unwrap();
        match expand(options, &syn::parse_str(item).unwrap()) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        }
    }

    #[test]
    fn refusals_say_what_to_do() {
        let owned = "expected an owned type, such as `String` for `&str`";
        for (item, message) in [
            (
                "trait T<A> {}",
                "expected a trait without generic parameters",
            ),
            (
                "trait T { const A: u8; }",
                "expected only methods in this trait",
            ),
            (
                "trait T { fn f<A>(&self); }",
                "expected a method without generic parameters",
            ),
            (
                "trait T { fn f(&self) {} }",
                "expected a method without a body",
            ),
            (
                "trait T { const fn f(&self); }",
                "expected `fn` or `async fn`",
            ),
            ("trait T { fn f(); }", "expected `&self`"),
            ("trait T { fn f(a: u8); }", "expected `&self`"),
            ("trait T { fn f(&mut self); }", "expected `&self`"),
            ("trait T { fn f(&self, (a, b): A); }", "expected a name"),
            ("trait T { fn f(&self, a: &str); }", owned),
            ("trait T { fn f(&self, a: u8, context: &Context); }", owned),
            ("trait T { fn f(&self, context: &mut Context); }", owned),
            (
                "trait T { fn f(&self, context: &lydite_ocapn_net::Context, a: u8); }",
                "",
            ),
            ("trait T { async fn f(&self) -> &str; }", owned),
            (
                "trait T { fn f(&self) -> u8; }",
                "a method with a result must be `async`; without one it is one-way",
            ),
            (
                "trait T { fn f(&self); #[symbol = \"f\"] fn g(&self); }",
                "same symbol as the method `f`: `f`",
            ),
            (
                "trait T { #[symbol = 1] fn g(&self); }",
                "expected string literal",
            ),
            (
                "trait T { fn cast(&self); }",
                "references have a method `cast`; rename this one and add #[symbol = \"cast\"]",
            ),
            (
                "trait T { async fn f(&self, a: String) -> Result<u8, Error>; }",
                "",
            ),
        ] {
            assert_eq!(refusal("", item), message, "{item}");
        }
        let unknown = "unknown option; expected `kebab`, `sequential` or `crate`";
        assert_eq!(refusal("camel", "trait T {}"), unknown);
    }
}
