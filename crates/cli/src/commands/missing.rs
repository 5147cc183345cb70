//! Commands of features that this build is without.

/// Defines commands that take any arguments and fail: the feature, what the build is missing, and for each command its
/// arguments and its function.
macro_rules! missing {
    ($feature:literal, $what:literal, $($Arguments:ident $command:ident),+) => {
        use anyhow::{Result, bail};

        use crate::{Answer, output::Output};

        #[derive(clap::Args)]
        #[command(about = concat!("Requires a build with the feature `", $feature, "`"), disable_help_flag = true)]
        pub struct Missing {
            #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
            _arguments: Vec<String>,
        }

        pub fn missing(_: &Missing, _: &Output) -> Result<Answer> {
            bail!(
                "{}; install it with: cargo install --locked --path crates/cli --features {}",
                $what,
                $feature
            )
        }

        $(
            pub type $Arguments = Missing;
            pub use missing as $command;
        )+
    };
}

pub(super) use missing;
