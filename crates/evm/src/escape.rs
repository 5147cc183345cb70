//! JSON escapes, which the text form of ABI values also uses.

/// Decodes an escape. `at` must be after its backslash, and is advanced past the escape.
pub(crate) fn character(text: &str, at: &mut usize) -> Option<char> {
    let escape = *text.as_bytes().get(*at)?;
    *at += 1;
    Some(match escape {
        b'"' | b'\\' | b'/' => char::from(escape),
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => unicode(text, at)?,
        _ => return None,
    })
}

/// Decodes the part after `\u`: four digits, or a surrogate pair.
fn unicode(text: &str, at: &mut usize) -> Option<char> {
    let mut units = [code_unit(text, at)?, 0];
    let mut len = 1;
    if (0xd800..0xdc00).contains(&units[0]) && text[*at..].starts_with("\\u") {
        *at += 2;
        units[1] = code_unit(text, at)?;
        len = 2;
    }
    match char::decode_utf16(units[..len].iter().copied()).next()? {
        Ok(c) if c.len_utf16() == len => Some(c),
        _ => None,
    }
}

fn code_unit(text: &str, at: &mut usize) -> Option<u16> {
    let digits = text.get(*at..*at + 4)?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    *at += 4;
    u16::from_str_radix(digits, 16).ok()
}
