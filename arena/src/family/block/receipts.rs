//! Draws the receipts of a block.

use crate::family::mainnet::log;
use crate::random::Random;

/// For each receipt: type, status, cumulative gas (u64), number of logs (u32), and the logs: address 20, number of
/// topics, topics, `lp(data)`.
pub fn draw(count: usize, random: &mut Random) -> Vec<u8> {
    let (mut out, mut gas) = (Vec::new(), 0);
    for _ in 0..count {
        // A third transfer Ether only; a few swap, with many logs.
        let logs = match random.below(100) {
            0..33 => 0,
            33..70 => random.between(1, 2),
            70..97 => random.between(3, 8),
            _ => random.between(9, 40),
        };
        let success = logs > 0 || random.below(10) > 0;
        gas += 21_000 + random.below(40_000) * logs;
        out.extend([random.pick(&[0, 2, 2, 2, 2]), u8::from(success)]);
        out.extend((gas as u64).to_le_bytes());
        out.extend((logs as u32).to_le_bytes());
        for _ in 0..logs {
            let kind = random.below(1000);
            out.extend(log(kind, random));
        }
    }
    out
}
