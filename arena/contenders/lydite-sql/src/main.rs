//! DataFusion with lydite-datafusion as a contender: the engine and the functions of `lydite sql`, on one thread.

mod engine;

fn main() {
    let versions = format!(
        "{}, DataFusion {}",
        env!("CARGO_PKG_VERSION"),
        datafusion::DATAFUSION_VERSION
    );
    engine::run(
        "lydite-sql",
        &versions,
        |context| lydite_datafusion::register_all(context).ok(),
        "evm_decode_log(topic0, topic1, topic2, topic3, data,
            'event Transfer(address indexed from, address indexed to, uint256 value)')",
        "uint256(0)",
    );
}
