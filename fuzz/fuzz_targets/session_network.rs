//! CapTP sessions: two to four vats exchange messages and references while the input chooses what they do, which bytes
//! move next, and which connections are cut. Messages arrive once and in order, promises settle once, and the tables
//! are empty in the end. The network and its checks are those of the unit tests.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite_fuzz::session::tests::network::Oracle;

/// Rounds of one input: fewer than the listeners that one promise may have.
const ROUNDS: usize = 200;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, input)) = data.split_first() else {
        return;
    };
    let vats = 2 + usize::from(choice % 4).min(2);
    let mut oracle = Oracle::new(vats, u64::from(choice / 16));
    oracle.breaks = choice & 4 != 0;
    let cuts = choice & 8 != 0;
    oracle.world.random.input.extend(input);
    for _ in 0..ROUNDS {
        if oracle.world.random.input.is_empty() {
            break;
        }
        oracle.round();
        if cuts && oracle.world.random.below(16) == 15 {
            oracle.cut();
        }
    }
    oracle.world.random.input.clear();
    oracle.finish();
});
