//! Change rules, which make the items of a batch unpredictable.
//!
//! Before each call the kit sets a few bytes of the item to a word of a sequence that starts from the batch's seed. The
//! driver chooses the seed when the batch starts and computes the expected checksum afterwards. The rules are described
//! in docs/adding-a-contender.md; the sequence is the 32-bit linear congruential generator of PCG (O'Neill 2014).

/// Difference between the words of neighbouring elements: 2^32 divided by the golden ratio.
const ELEMENT: u32 = 0x9e37_79b9;

/// The words of a batch, one per call.
pub(crate) struct Words(u32);

impl Words {
    pub fn new(seed: u32) -> Self {
        Self(seed)
    }

    #[inline(always)]
    pub fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        self.0
    }
}

/// The words of a call's elements, for operations whose item is a list passed to one call.
#[inline(always)]
pub fn words(first: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(first), |word| Some(word.wrapping_add(ELEMENT)))
}

/// Encoding of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Four bytes, little-endian.
    Le,
    /// Four bytes, big-endian.
    Be,
    /// Two bytes, little-endian: the word's upper half.
    Le16,
    /// Eight octal digits in ASCII, the lowest three bits first.
    Digits,
}

/// A change rule: which bytes of an element are set, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    kind: Kind,
    /// Byte offset from the element's start, or from its end if negative.
    offset: isize,
}

impl Rule {
    /// Parses `<kind>@<offset>`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (kind, offset) = text.split_once('@')?;
        let kind = match kind {
            "le" => Kind::Le,
            "be" => Kind::Be,
            "le16" => Kind::Le16,
            "digits" => Kind::Digits,
            _ => return None,
        };
        let offset = offset.parse().ok()?;
        Some(Self { kind, offset })
    }
}

/// Sets the window at `offset`; does nothing if the element is too short for it.
#[inline(always)]
fn set<const N: usize>(bytes: &mut [u8], offset: isize, window: [u8; N]) {
    let at = match offset {
        0.. => Some(offset.unsigned_abs()),
        _ => bytes.len().checked_sub(offset.unsigned_abs()),
    };
    let end = at.and_then(|at| Some(at..at.checked_add(N)?));
    if let Some(place) = end.and_then(|range| bytes.get_mut(range)) {
        place.copy_from_slice(&window);
    }
}

/// A word as eight octal digits in ASCII, as the kind `digits` writes it.
#[inline(always)]
pub fn digits(word: u32) -> [u8; 8] {
    let mut digits = u64::from(word & 0xff_ffff);
    // Doubles the distance of the halves, then of the quarters and the eighths, which gives three bits per byte.
    digits = (digits | digits << 20) & 0x0000_0fff_0000_0fff;
    digits = (digits | digits << 10) & 0x003f_003f_003f_003f;
    digits = (digits | digits << 5) & 0x0707_0707_0707_0707;
    (digits | 0x3030_3030_3030_3030).to_le_bytes()
}

/// Sets eight characters of a text to the digits of a word, unless the text is too short or is not ASCII there.
#[inline(always)]
pub fn set_digits(text: &mut str, at: usize, word: u32) {
    // SAFETY: only ASCII bytes are replaced, and only by ASCII digits, so the text remains valid UTF-8.
    let bytes = unsafe { text.as_bytes_mut() };
    if let Some(window) = bytes.get_mut(at..at + 8)
        && window.is_ascii()
    {
        window.copy_from_slice(&digits(word));
    }
}

/// Sets bits 32 to 63 of a 256-bit integer to the word, which is the rule `le@4` on 32 little-endian bytes.
#[inline(always)]
pub fn set_upper_half(limbs: &mut [u64; 4], word: u32) {
    limbs[0] = limbs[0] & 0xffff_ffff | u64::from(word) << 32;
}

/// Sets the low 32 bits of a 256-bit integer to the word, which is the rule `be@-4` on 32 big-endian bytes.
#[inline(always)]
pub fn set_low(limbs: &mut [u64; 4], word: u32) {
    limbs[0] = limbs[0] >> 32 << 32 | u64::from(word);
}

/// Sets the first four bytes of each value to its word, which is the rule `le@0` on a batch.
#[inline(always)]
pub fn set_each<T: Raw>(values: &mut [T], word: u32) {
    for (value, word) in values.iter_mut().zip(words(word)) {
        set(value.raw(), 0, word.to_le_bytes());
    }
}

/// How an operation changes the elements of an item.
pub trait Change<T>: Copy + 'static {
    /// Whether it supports the rule.
    fn follows(&self, rule: Rule) -> bool;

    /// Changes the elements of an item; `word` is that of the first element.
    fn apply(&self, rule: Rule, elements: &mut [T], word: u32);
}

/// No change; the operation supports no rule.
#[derive(Clone, Copy)]
pub struct Fixed;

impl<T> Change<T> for Fixed {
    fn follows(&self, _: Rule) -> bool {
        false
    }

    #[inline(always)]
    fn apply(&self, _: Rule, _: &mut [T], _: u32) {}
}

/// A value that is, or holds, the element's own bytes.
pub trait Raw {
    /// The bytes of the element.
    fn raw(&mut self) -> &mut [u8];
}

impl<const N: usize> Raw for [u8; N] {
    #[inline(always)]
    fn raw(&mut self) -> &mut [u8] {
        self
    }
}

/// Changes by the kit, which can apply any rule to bytes.
#[derive(Clone, Copy)]
pub struct Bytewise;

impl<T: Raw> Change<T> for Bytewise {
    fn follows(&self, _: Rule) -> bool {
        true
    }

    #[inline(always)]
    fn apply(&self, Rule { kind, offset }: Rule, elements: &mut [T], word: u32) {
        let pairs = elements.iter_mut().map(T::raw).zip(words(word));
        // The kind is dispatched once per item, not once per element.
        match kind {
            Kind::Le => pairs.for_each(|(bytes, word)| set(bytes, offset, word.to_le_bytes())),
            Kind::Be => pairs.for_each(|(bytes, word)| set(bytes, offset, word.to_be_bytes())),
            Kind::Le16 => pairs.for_each(|(bytes, word)| {
                set(bytes, offset, ((word >> 16) as u16).to_le_bytes());
            }),
            Kind::Digits => pairs.for_each(|(bytes, word)| set(bytes, offset, digits(word))),
        }
    }
}

/// Changes by the adapter to its own values, for one rule.
#[derive(Clone, Copy)]
pub struct By<F> {
    pub(crate) rule: &'static str,
    pub(crate) change: F,
}

impl<T, F: Fn(&mut T, u32) + Copy + 'static> Change<T> for By<F> {
    fn follows(&self, rule: Rule) -> bool {
        Rule::parse(self.rule) == Some(rule)
    }

    #[inline(always)]
    fn apply(&self, _: Rule, elements: &mut [T], word: u32) {
        for (element, word) in elements.iter_mut().zip(words(word)) {
            (self.change)(element, word);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_the_documentation() {
        // Computed in Python from the definition.
        for (seed, expected) in [
            (0, [0xac56_4b05, 0x4712_a88e, 0x21dd_796b]),
            (1, [0xd8e8_c2ba, 0x4180_6e87, 0xec83_3178]),
            (u32::MAX, [0x7fc3_d350, 0x4ca4_e295, 0x5737_c15e]),
        ] {
            let mut sequence = Words::new(seed);
            assert_eq!([(); 3].map(|()| sequence.next()), expected);
        }
        let elements: Vec<u32> = words(0x4180_6e87).take(64).collect();
        assert_eq!(elements[1], 0xdfb7_e840);
        assert_eq!(elements[63], 0x3127_630e);
    }

    #[test]
    fn rules_parse_or_are_refused() {
        let rule = |kind, offset| Some(Rule { kind, offset });
        assert_eq!(Rule::parse("le@0"), rule(Kind::Le, 0));
        assert_eq!(Rule::parse("be@-4"), rule(Kind::Be, -4));
        assert_eq!(Rule::parse("le16@-9"), rule(Kind::Le16, -9));
        assert_eq!(Rule::parse("digits@96"), rule(Kind::Digits, 96));
        for wrong in ["", "none", "le", "le@", "le@x", "le32@0", "@0", "le@0@0"] {
            assert_eq!(Rule::parse(wrong), None, "{wrong}");
        }
    }

    /// The result of a rule on dots.
    fn set_by(rule: &str, length: usize) -> String {
        let mut element = [crate::Bytes::from(vec![b'.'; length])];
        let rule = Rule::parse(rule).unwrap_or(Rule {
            kind: Kind::Le,
            offset: 0,
        });
        Bytewise.apply(rule, &mut element, 0x4142_4344);
        String::from_utf8_lossy(&element[0]).into_owned()
    }

    #[test]
    fn windows_are_set_where_there_is_room() {
        assert_eq!(set_by("le@1", 6), ".DCBA.");
        assert_eq!(set_by("be@-4", 6), "..ABCD");
        assert_eq!(set_by("le16@0", 4), "BA..");
        // 0x42_43_44 is 20441504 in octal; lowest digit first: 40514402.
        assert_eq!(set_by("digits@-9", 10), ".40514402.");
        for (rule, length) in [
            ("le@3", 6),
            ("be@-4", 3),
            ("le@-3", 6),
            ("digits@0", 7),
            ("le@9223372036854775807", 9),
            ("le@-9223372036854775808", 9),
        ] {
            assert_eq!(set_by(rule, length), ".".repeat(length), "{rule}");
        }
    }

    #[test]
    fn digits_follow_their_definition() {
        for word in [0, 1, 7, 8, 0x00ff_ffff, 0x1234_5678, u32::MAX] {
            let expected: [u8; 8] = std::array::from_fn(|j| b'0' + (word >> (3 * j) & 7) as u8);
            assert_eq!(digits(word), expected, "{word:#x}");
        }
    }

    #[test]
    fn elements_get_words_of_their_own() {
        let mut elements = [[0u8; 4]; 3];
        let rule = Rule {
            kind: Kind::Le,
            offset: 0,
        };
        Bytewise.apply(rule, &mut elements, 5);
        let expected: Vec<u32> = words(5).take(3).collect();
        assert_eq!(elements.map(u32::from_le_bytes).to_vec(), expected);
    }

    #[test]
    fn texts_stay_texts() {
        let changed = |text: &str, at| {
            let mut text = text.to_owned();
            set_digits(&mut text, at, 0);
            text
        };
        assert_eq!(changed("abcdefghij", 1), "a00000000j");
        assert_eq!(changed("abcdefg", 0), "abcdefg");
        assert_eq!(changed("abcdefgž", 0), "abcdefgž");
    }

    #[test]
    fn integers_change_as_their_bytes_do() {
        let limbs = [0x1111_2222_3333_4444, 5, 6, 7];
        let mut upper = limbs;
        set_upper_half(&mut upper, 0xaaaa_bbbb);
        assert_eq!(upper, [0xaaaa_bbbb_3333_4444, 5, 6, 7]);
        let mut low = limbs;
        set_low(&mut low, 0xaaaa_bbbb);
        assert_eq!(low, [0x1111_2222_aaaa_bbbb, 5, 6, 7]);
    }
}
