//! One Keccak-f\[1600\] with BMI1 `andn` and BMI2 `rorx`.

use super::super::{State, portable};

/// The 24 rounds.
#[target_feature(enable = "bmi1,bmi2")]
pub(in super::super) fn permute(state: &mut State) {
    portable::permute(state);
}
