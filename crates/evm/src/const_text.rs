//! ASCII text built at compile time: names and signatures of types.

/// A buffer that keeps counting past its end, so that the same code can measure (with `N = 0`) and write.
#[derive(Clone, Copy)]
pub(crate) struct ConstText<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> ConstText<N> {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; N],
            length: 0,
        }
    }

    pub(crate) const fn push(&mut self, byte: u8) {
        if self.length < N {
            self.bytes[self.length] = byte;
        }
        self.length += 1;
    }

    pub(crate) const fn push_str(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut i = 0;
        while i < bytes.len() {
            self.push(bytes[i]);
            i += 1;
        }
    }

    /// Appends the number in decimal.
    pub(crate) const fn push_number(&mut self, number: usize) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push(b'0' + (number % 10) as u8);
    }

    /// Returns the number of bytes pushed so far, including those that did not fit.
    pub(crate) const fn len(&self) -> usize {
        self.length
    }

    /// Returns the text, which must have fit completely.
    pub(crate) const fn as_bytes(&self) -> &[u8] {
        self.bytes.split_at(self.length).0
    }

    /// Returns the text as a `str`; see [`as_bytes`](Self::as_bytes).
    pub(crate) const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.as_bytes()) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    /// Returns the whole buffer.
    pub(crate) const fn into_array(self) -> [u8; N] {
        self.bytes
    }
}
