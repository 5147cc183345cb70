//! Logs of contracts.

use alloc::vec::Vec;
use core::iter;

use lydite_bytes::{Address, B256, Bytes};

/// A log. [`EventCodec`](crate::abi::EventCodec) and types made by [`abi_event`](crate::abi_event) decode its topics and
/// data.
///
/// With the feature `serde`, it is the object of JSON-RPC. Members that do not belong to the log itself,
/// such as `blockNumber`, are ignored when it is read.
///
/// ```
/// use lydite_bytes::{Address, B256};
/// use lydite_evm::{Log, abi::{EventCodec, Value}, bloom};
///
/// let event = EventCodec::parse("event Transfer(address indexed from, address indexed to, uint256 value)")?;
/// let (from, to) = (Address([1; 20]), Address([2; 20]));
/// let log = Log {
///     address: Address([3; 20]),
///     topics: vec![*event.topic(), from.into_word(), to.into_word()],
///     data: B256::from([7; 32]).0.into(),
/// };
/// assert_eq!(event.decode(&log.topics, &log.data)?[1], Value::Address(to));
/// assert!(bloom::contains(&bloom::bloom(log.entries()), &log.address.0));
/// # Ok::<(), lydite_evm::abi::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Log {
    /// The contract that wrote it.
    pub address: Address,
    /// At most four; the first is the event's, unless the event is anonymous.
    #[cfg_attr(feature = "serde", serde(deserialize_with = "topics"))]
    pub topics: Vec<B256>,
    /// The members that are not indexed.
    pub data: Bytes,
}

impl Log {
    /// The entries of a [bloom filter](crate::bloom): the address and the topics.
    pub fn entries(&self) -> impl Iterator<Item = &[u8]> {
        let topics = self.topics.iter().map(|topic| &topic.0[..]);
        iter::once(&self.address.0[..]).chain(topics)
    }
}

#[cfg(feature = "serde")]
fn topics<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<B256>, D::Error> {
    let topics: Vec<B256> = serde::Deserialize::deserialize(deserializer)?;
    if topics.len() > 4 {
        let message = format_args!("expected at most 4 topics, found {}", topics.len());
        return Err(serde::de::Error::custom(message));
    }
    Ok(topics)
}

#[cfg(all(test, feature = "serde"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{format, string::ToString, vec, vec::Vec};

    use super::*;

    /// A log with the members that the execution APIs name.
    fn text(topics: &str, data: &str) -> std::string::String {
        let address = "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df";
        format!(
            r#"{{"removed":false,"logIndex":"0x0","transactionIndex":"0x0","blockNumber":"0x233",
            "address":"{address}","data":"{data}","topics":[{topics}]}}"#
        )
    }

    #[test]
    fn logs_are_objects_of_json_rpc() {
        let topic = format!(r#""0x{}""#, "ab".repeat(32));
        let log: Log = serde_json::from_str(&text(&topic, "0x0102")).unwrap();
        assert_eq!(log.topics, [B256::from([0xab; 32])]);
        assert_eq!(log.data, Bytes(vec![1, 2]));
        let written = serde_json::to_string(&log).unwrap();
        let members: serde_json::Value = serde_json::from_str(&written).unwrap();
        assert_eq!(members.as_object().unwrap().len(), 3);
        assert_eq!(serde_json::from_str::<Log>(&written).unwrap(), log);

        let anonymous: Log = serde_json::from_str(&text("", "0x")).unwrap();
        assert_eq!(
            anonymous.entries().collect::<Vec<_>>(),
            [&log.address.0[..]]
        );

        let five = [&*topic; 5].join(",");
        let error = serde_json::from_str::<Log>(&text(&five, "0x")).unwrap_err();
        assert!(
            error.to_string().contains("at most 4 topics, found 5"),
            "{error}"
        );
        for (topics, data) in [(r#""0xab""#, "0x"), (&*topic, "0x0"), (&*topic, "0xzz")] {
            assert!(
                serde_json::from_str::<Log>(&text(topics, data)).is_err(),
                "{topics} {data}"
            );
        }
    }
}
