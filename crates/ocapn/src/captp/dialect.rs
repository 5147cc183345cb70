//! The dialects of CapTP in use: which labels and fields each has.
use core::fmt;

/// Which labels and fields are used on the wire.
///
/// | | [`Suite202602`](Self::Suite202602) | [`Draft202607`](Self::Draft202607) | [`Endo202608`](Self::Endo202608) |
/// |---|---|---|---|
/// | deliver without answer and resolver | `op:deliver-only` | `op:deliver … f f` | `op:deliver … f f` |
/// | resolver of a deliver with an answer | required | or `f` | or `f` |
/// | fields of `op:listen` | 3 | 2 | 3 |
/// | garbage collection | `op:gc-export`, `op:gc-answer` | `op:gc-exports`, `op:gc-answers` | `op:gc-exports`, `op:gc-answers` |
/// | `op:get`, `op:index`, `op:untag` | no | yes | yes |
/// | swiss number of a sturdyref | byte array | string | byte array |
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The OCapN test suite at commit 6c146dc (2026-02-17), and Endo until April 2026.
    Suite202602,
    /// The draft of 2026-07-16.
    Draft202607,
    /// Endo 1.1.1 (August 2026): the draft, with two differences.
    Endo202608,
}

impl Dialect {
    /// All of them, those in use today first.
    pub const ALL: [Self; 3] = [Self::Endo202608, Self::Suite202602, Self::Draft202607];

    pub(super) const fn has_deliver_only(self) -> bool {
        matches!(self, Self::Suite202602)
    }

    pub(super) const fn has_partial_listeners(self) -> bool {
        !matches!(self, Self::Draft202607)
    }

    pub(super) const fn has_data_operations(self) -> bool {
        !matches!(self, Self::Suite202602)
    }

    pub(super) const fn gc_labels(self) -> (&'static str, &'static str) {
        match self {
            Self::Suite202602 => ("op:gc-export", "op:gc-answer"),
            _ => ("op:gc-exports", "op:gc-answers"),
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Suite202602 => "suite-2026-02",
            Self::Draft202607 => "draft-2026-07",
            Self::Endo202608 => "endo-2026-08",
        })
    }
}
