//! The forks of the EVM that matter for precompiles and for the engines that run them.

use core::{fmt, str::FromStr};

/// A fork. The variants are in chronological order.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Fork {
    /// July 2015.
    Frontier,
    /// March 2016.
    Homestead,
    /// EIP-150, October 2016.
    TangerineWhistle,
    /// EIP-161, November 2016.
    SpuriousDragon,
    /// October 2017: modexp, bn254.
    Byzantium,
    /// February 2019.
    Constantinople,
    /// February 2019.
    Petersburg,
    /// December 2019: BLAKE2 F, cheaper bn254.
    Istanbul,
    /// April 2021: modexp by EIP-2565.
    Berlin,
    /// August 2021.
    London,
    /// September 2022, the merge.
    Paris,
    /// April 2023.
    Shanghai,
    /// March 2024: KZG point evaluation.
    Cancun,
    /// May 2025: BLS12-381.
    Prague,
    /// December 2025: P-256, modexp by EIP-7823 and EIP-7883.
    Osaka,
    /// Has the same precompiles as Osaka.
    Amsterdam,
}

impl Fork {
    /// Every fork, in order.
    pub const ALL: [Self; 16] = [
        Self::Frontier,
        Self::Homestead,
        Self::TangerineWhistle,
        Self::SpuriousDragon,
        Self::Byzantium,
        Self::Constantinople,
        Self::Petersburg,
        Self::Istanbul,
        Self::Berlin,
        Self::London,
        Self::Paris,
        Self::Shanghai,
        Self::Cancun,
        Self::Prague,
        Self::Osaka,
        Self::Amsterdam,
    ];

    /// Returns the name in lower case, with words joined by hyphens.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Frontier => "frontier",
            Self::Homestead => "homestead",
            Self::TangerineWhistle => "tangerine-whistle",
            Self::SpuriousDragon => "spurious-dragon",
            Self::Byzantium => "byzantium",
            Self::Constantinople => "constantinople",
            Self::Petersburg => "petersburg",
            Self::Istanbul => "istanbul",
            Self::Berlin => "berlin",
            Self::London => "london",
            Self::Paris => "paris",
            Self::Shanghai => "shanghai",
            Self::Cancun => "cancun",
            Self::Prague => "prague",
            Self::Osaka => "osaka",
            Self::Amsterdam => "amsterdam",
        }
    }
}

impl fmt::Display for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a text that is not the name of a fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownFork;

impl fmt::Display for UnknownFork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown fork; expected one of")?;
        for (i, fork) in Fork::ALL.into_iter().enumerate() {
            write!(f, "{}{fork}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownFork {}

impl FromStr for Fork {
    type Err = UnknownFork;

    fn from_str(text: &str) -> Result<Self, UnknownFork> {
        Self::ALL
            .into_iter()
            .find(|fork| fork.name().eq_ignore_ascii_case(text))
            .ok_or(UnknownFork)
    }
}
