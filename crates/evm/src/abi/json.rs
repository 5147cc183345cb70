//! A contract's interface as JSON. Feature `serde`.
//!
//! Source: Solidity ABI specification, "JSON".

use alloc::{string::String, vec::Vec};

use lydite_bytes::B256;
use serde::Deserialize;

use super::{
    CallCodec, Codec, Error, ErrorKind, EventCodec, Mode, Parameter, Revert, Signature, Value,
    call::compile,
};

/// A contract's interface, read from the JSON list that Solidity's compiler writes. In the files of build tools, this
/// is the member `abi`. All parts are compiled on reading.
///
/// The deserializer reports errors with its own position; that of `serde_json` is a line and a column. A function's
/// `stateMutability`, `receive` and `fallback` are not kept.
///
/// ```
/// use lydite_evm::abi::JsonAbi;
/// let abi: JsonAbi = serde_json::from_str(
///     r#"[
///         {"type": "function", "name": "burn", "inputs": [{"name": "amount", "type": "uint256"}], "outputs": []},
///         {"type": "error", "name": "Insufficient", "inputs": [{"name": "available", "type": "uint256"}]}
///     ]"#,
/// )?;
/// let data = lydite_evm::abi::encode_call([0x42, 0x96, 0x6c, 0x68], &7u64);
/// let (function, arguments) = abi.decode_call(&data)?;
/// assert_eq!((function.signature().name.as_str(), arguments[0].to_string().as_str()), ("burn", "7"));
///
/// let data = lydite_evm::abi::encode_call(abi.errors[0].selector(), &5u64);
/// assert_eq!(abi.decode_revert(&data)?.to_string(), "reverted: Insufficient(5)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Vec<Item>")]
pub struct JsonAbi {
    /// The constructor's arguments, which follow the code in the data of a creation.
    pub constructor: Option<Codec>,
    /// The functions, in the order of the list.
    pub functions: Vec<CallCodec>,
    /// The events, in the order of the list.
    pub events: Vec<EventCodec>,
    /// The custom errors, in the order of the list.
    pub errors: Vec<CallCodec>,
}

impl JsonAbi {
    /// Returns the functions with this name, of which there are several if it is overloaded.
    pub fn functions_named(&self, name: &str) -> impl Iterator<Item = &CallCodec> {
        let functions = self.functions.iter();
        functions.filter(move |function| function.signature().name == name)
    }

    /// Returns the events with this name, of which there are several if it is overloaded.
    pub fn events_named(&self, name: &str) -> impl Iterator<Item = &EventCodec> {
        let events = self.events.iter();
        events.filter(move |event| event.signature().name == name)
    }

    /// Decodes a call: returns the function and its arguments.
    ///
    /// # Errors
    /// `Selector` if no function has the selector at the start of `data`; otherwise those of [`CallCodec::decode`].
    pub fn decode_call(&self, data: &[u8]) -> Result<(&CallCodec, Vec<Value>), Error> {
        let mut functions = self.functions.iter();
        let function = functions
            .find(|function| data.starts_with(&function.selector()))
            .ok_or(Error::new(ErrorKind::Selector, 0))?;
        Ok((function, function.decode(data)?))
    }

    /// Decodes a log: returns the event and its parameters' values. Events with the same signature, such as `Transfer`
    /// of ERC-20 and ERC-721, differ in their number of topics. Anonymous events are not considered.
    ///
    /// # Errors
    /// `Selector` if no event has the first topic and this number of topics; otherwise those of [`EventCodec::decode`].
    pub fn decode_log(
        &self,
        topics: &[B256],
        data: &[u8],
    ) -> Result<(&EventCodec, Vec<Value>), Error> {
        let mut events = self.events.iter();
        let event = events
            .find(|event| !event.is_anonymous() && event.indexed_topics(topics).is_some())
            .ok_or(Error::new(ErrorKind::Selector, 0))?;
        Ok((event, event.decode(topics, data)?))
    }

    /// Decodes the data of a reverted call, in [`Mode::Strict`].
    ///
    /// # Errors
    /// Those of [`Revert::decode`].
    pub fn decode_revert<'a>(&'a self, data: &'a [u8]) -> Result<Revert<'a>, Error> {
        self.decode_revert_with(data, Mode::Strict)
    }

    /// Like [`decode_revert`](Self::decode_revert), in the given mode.
    ///
    /// # Errors
    /// Those of [`Revert::decode`].
    pub fn decode_revert_with<'a>(
        &'a self,
        data: &'a [u8],
        mode: Mode,
    ) -> Result<Revert<'a>, Error> {
        Revert::decode_with(data, &self.errors, mode)
    }
}

impl From<Vec<Item>> for JsonAbi {
    fn from(items: Vec<Item>) -> Self {
        let mut abi = Self::default();
        for item in items {
            match item {
                Item::Constructor(codec) => abi.constructor = Some(codec),
                Item::Function(codec) => abi.functions.push(codec),
                Item::Event(codec) => abi.events.push(codec),
                Item::Error(codec) => abi.errors.push(codec),
                Item::NoParameters => {}
            }
        }
        abi
    }
}

/// An element of the list, compiled.
#[derive(Deserialize)]
#[serde(try_from = "ItemText")]
enum Item {
    Constructor(Codec),
    Function(CallCodec),
    Event(EventCodec),
    Error(CallCodec),
    NoParameters,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ItemKind {
    #[default]
    Function,
    Constructor,
    Receive,
    Fallback,
    Event,
    Error,
}

/// An element of the list as written.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ItemText {
    #[serde(rename = "type")]
    kind: ItemKind,
    name: String,
    inputs: Vec<Parameter>,
    outputs: Vec<Parameter>,
    anonymous: bool,
}

impl TryFrom<ItemText> for Item {
    type Error = Error;

    fn try_from(item: ItemText) -> Result<Self, Error> {
        match item.kind {
            ItemKind::Constructor => return compile(&item.inputs).map(Self::Constructor),
            ItemKind::Receive | ItemKind::Fallback => return Ok(Self::NoParameters),
            ItemKind::Function | ItemKind::Event | ItemKind::Error => {}
        }
        let signature = Signature::new(item.name, item.inputs, item.outputs)?;
        match item.kind {
            ItemKind::Event => EventCodec::new(signature, item.anonymous).map(Self::Event),
            ItemKind::Error => CallCodec::new(signature).map(Self::Error),
            _ => CallCodec::new(signature).map(Self::Function),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use alloc::{format, string::ToString, vec};

    use lydite_bytes::{Address, U256};
    use proptest::prelude::*;

    use super::*;
    use crate::abi::{self, Type};

    /// ERC-20 with the errors of EIP-6093, the overloads of ERC-721, and functions with structs of Uniswap V3's router
    /// and of Multicall3.
    const CONTRACT: &str = r#"[
        {"type": "constructor", "inputs": [{"name": "supply", "type": "uint256", "internalType": "uint256"}],
         "stateMutability": "nonpayable"},
        {"type": "receive", "stateMutability": "payable"},
        {"type": "fallback", "stateMutability": "payable"},
        {"name": "transfer", "inputs": [{"name": "to", "type": "address"}, {"name": "amount", "type": "uint256"}],
         "outputs": [{"name": "", "type": "bool"}], "stateMutability": "nonpayable"},
        {"type": "function", "name": "safeTransferFrom", "outputs": [], "inputs": [
            {"name": "from", "type": "address"}, {"name": "to", "type": "address"}, {"name": "id", "type": "uint256"}]},
        {"type": "function", "name": "safeTransferFrom", "outputs": [], "inputs": [
            {"name": "from", "type": "address"}, {"name": "to", "type": "address"}, {"name": "id", "type": "uint256"},
            {"name": "data", "type": "bytes"}]},
        {"type": "function", "name": "exactInputSingle", "outputs": [{"name": "amountOut", "type": "uint256"}],
         "inputs": [{"name": "params", "type": "tuple", "components": [
            {"name": "tokenIn", "type": "address"}, {"name": "tokenOut", "type": "address"},
            {"name": "fee", "type": "uint24"}, {"name": "recipient", "type": "address"},
            {"name": "deadline", "type": "uint256"}, {"name": "amountIn", "type": "uint256"},
            {"name": "amountOutMinimum", "type": "uint256"}, {"name": "sqrtPriceLimitX96", "type": "uint160"}]}]},
        {"type": "function", "name": "aggregate", "stateMutability": "payable",
         "inputs": [{"name": "calls", "type": "tuple[]", "components": [
            {"name": "target", "type": "address"}, {"name": "callData", "type": "bytes"}]}],
         "outputs": [{"name": "blockNumber", "type": "uint256"}, {"name": "returnData", "type": "bytes[]"}]},
        {"type": "event", "name": "Transfer", "anonymous": false, "inputs": [
            {"name": "from", "type": "address", "indexed": true}, {"name": "to", "type": "address", "indexed": true},
            {"name": "value", "type": "uint256", "indexed": false}]},
        {"type": "event", "name": "LogNote", "anonymous": true, "inputs": [
            {"name": "sig", "type": "bytes4", "indexed": true}, {"name": "data", "type": "bytes", "indexed": false}]},
        {"type": "error", "name": "ERC20InsufficientBalance", "inputs": [
            {"name": "sender", "type": "address"}, {"name": "balance", "type": "uint256"},
            {"name": "needed", "type": "uint256"}]}
    ]"#;

    fn read(text: &str) -> Result<JsonAbi, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn selectors_and_topics_are_the_published_ones() {
        let abi = read(CONTRACT).unwrap();
        let functions = abi.functions.iter();
        let functions: Vec<_> = functions
            .map(|function| (function.signature().to_string(), function.selector()))
            .collect();
        let expected: [(&str, u32); 5] = [
            ("transfer(address,uint256)", 0xa9059cbb),
            ("safeTransferFrom(address,address,uint256)", 0x42842e0e),
            (
                "safeTransferFrom(address,address,uint256,bytes)",
                0xb88d4fde,
            ),
            (
                "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
                0x414bf389,
            ),
            ("aggregate((address,bytes)[])", 0x252dba42),
        ];
        let expected = expected.map(|(text, selector)| (text.to_string(), selector.to_be_bytes()));
        assert_eq!(functions, expected);
        assert_eq!(abi.functions_named("safeTransferFrom").count(), 2);
        assert_eq!(abi.functions_named("approve").count(), 0);
        assert_eq!(abi.errors[0].selector(), 0xe450d38c_u32.to_be_bytes());
        let topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
        assert_eq!(abi.events[0].topic().to_string(), topic);
        let anonymous: Vec<_> = abi.events.iter().map(EventCodec::is_anonymous).collect();
        assert_eq!(anonymous, [false, true]);
        assert_eq!(abi.events_named("Transfer").count(), 1);
        let supply = abi
            .constructor
            .unwrap()
            .decode(&abi::encode(&9u64))
            .unwrap();
        assert_eq!(supply, [Value::Uint(U256::from(9u8), 256)]);
    }

    #[test]
    fn calls_logs_and_reverts_agree_with_the_typed_interface() {
        let abi = read(CONTRACT).unwrap();
        let (a, b) = (Address([0x11; 20]), Address([0x22; 20]));
        let number = |n: u64| Value::Uint(U256::from(n), 256);

        let data = abi::encode_call([0xa9, 0x05, 0x9c, 0xbb], &(a, 7u64));
        let (function, arguments) = abi.decode_call(&data).unwrap();
        assert_eq!(function.signature().inputs[1].name, "amount");
        assert_eq!(arguments, [Value::Address(a), number(7)]);
        assert_eq!(function.encode(&arguments).unwrap(), data);

        let calls = vec![(a, &b"\x01\x02"[..]), (b, &b""[..])];
        let data = abi::encode_call([0x25, 0x2d, 0xba, 0x42], &(calls,));
        let (function, arguments) = abi.decode_call(&data).unwrap();
        let text = format!("[({a},0x0102),({b},0x)]");
        assert_eq!(arguments[0].to_string(), text);
        let returned = abi::encode(&(1u64, vec![&b"\x03"[..]]));
        let returned = function.outputs().decode(&returned).unwrap();
        assert_eq!(returned[0], number(1));
        assert_eq!(returned[1].to_string(), "[0x03]");

        let topics = [*abi.events[0].topic(), a.into_word(), b.into_word()];
        let (event, values) = abi.decode_log(&topics, &abi::encode(&5u64)).unwrap();
        assert_eq!(event.signature().name, "Transfer");
        assert_eq!(values, [Value::Address(a), Value::Address(b), number(5)]);

        let selector = 0xe450d38c_u32.to_be_bytes();
        let data = abi::encode_call(selector, &(a, 1u64, 2u64));
        let text = format!("reverted: ERC20InsufficientBalance({a},1,2)");
        assert_eq!(abi.decode_revert(&data).unwrap().to_string(), text);
        let mut dirty = data;
        dirty[4] = 1;
        assert!(abi.decode_revert(&dirty).is_err());
        let lenient = abi.decode_revert_with(&dirty, Mode::Lenient).unwrap();
        assert_eq!(lenient.to_string(), text);

        let unknown = Err(Error::new(ErrorKind::Selector, 0));
        for data in [&[][..], &[0xa9, 0x05, 0x9c], &[0; 36]] {
            assert_eq!(abi.decode_call(data).map(drop), unknown);
        }
        for topics in [&[][..], &topics[1..]] {
            assert_eq!(abi.decode_log(topics, &[]).map(drop), unknown);
        }
        let truncated = abi.decode_call(&[0xa9, 0x05, 0x9c, 0xbb, 0]).unwrap_err();
        assert_eq!(truncated, Error::new(ErrorKind::Truncated, 5));
    }

    /// ERC-20 and ERC-721 in one interface.
    #[test]
    fn events_with_one_signature_differ_in_their_topics() {
        let inputs = |indexed| {
            format!(
                r#"{{"type": "event", "name": "Transfer", "inputs": [{{"type": "address", "indexed": true}},
                    {{"type": "address", "indexed": true}}, {{"type": "uint256", "indexed": {indexed}}}]}}"#
            )
        };
        let abi = read(&format!("[{}, {}]", inputs(false), inputs(true))).unwrap();
        let word = |byte: u8| B256::from(U256::from(byte).to_be_bytes());
        let topics = [*abi.events[0].topic(), word(1), word(2), word(7)];
        let fungible = abi.decode_log(&topics[..3], &topics[3].0).unwrap();
        let unique = abi.decode_log(&topics, &[]).unwrap();
        assert_eq!(fungible.1, unique.1);
        let indexed = |event: &EventCodec| event.signature().inputs[2].indexed;
        assert!(!indexed(fungible.0) && indexed(unique.0));
        assert!(abi.decode_log(&topics[..2], &topics[3].0).is_err());
    }

    #[test]
    fn tuples_have_the_types_of_their_components() {
        let parameter = |text: &str| serde_json::from_str::<Parameter>(text);
        let members = r#""components": [{"type": "uint8[2]"}, {"type": "tuple[]", "components": [{"type": "bool"}]}]"#;
        for suffix in ["", "[]", "[3][]"] {
            let text = format!(r#"{{"name": "p", "type": "tuple{suffix}", {members}}}"#);
            let read = parameter(&text).unwrap();
            assert_eq!(read.ty.to_string(), format!("(uint8[2],(bool)[]){suffix}"));
            assert_eq!(read.components[1].components[0].ty, Type::Bool);
        }

        // Each level is a tuple and an array.
        let nested = |levels: usize| {
            let open = r#"{"type": "tuple[]", "components": ["#.repeat(levels);
            parameter(&format!("{open}{}", "]}".repeat(levels)))
        };
        assert_eq!(
            nested(32).unwrap().ty,
            Type::parse(&nested_text(32)).unwrap()
        );
        let error = nested(33).unwrap_err().to_string();
        assert!(
            error.starts_with("byte 0: expected at most 64 levels of nesting"),
            "{error}"
        );
        assert!(nested(1000).is_err());
    }

    fn nested_text(levels: usize) -> String {
        format!("{}{}", "(".repeat(levels), ")[]".repeat(levels))
    }

    #[test]
    fn errors_have_their_position() {
        let message = |text: &str| read(text).unwrap_err();
        assert_eq!(
            message("[{\"name\": \"f\",\n \"inputs\": [{\"type\": \"uint7\"}]}]"),
            "byte 0: expected a Solidity type or signature at line 2 column 30"
        );
        assert_eq!(
            message("[\n{\"type\": \"event\", \"name\": \"f(\"}]"),
            "byte 1: expected a Solidity type or signature at line 2 column 32"
        );
        for name in ["", "1a", "a b", "a,"] {
            let text = format!("[{{\"name\": \"{name}\"}}]");
            assert!(message(&text).contains("expected a Solidity type or signature"));
        }
        assert!(message("[{\"type\": \"struct\"}]").starts_with("unknown variant `struct`"));
        assert!(message("[{\"inputs\": [{}]}]").starts_with("missing field `type`"));
        assert!(message("{}").starts_with("invalid type: map, expected a sequence"));
        let topics = "{\"type\": \"bool\", \"indexed\": true},".repeat(4);
        let text = format!(
            "[{{\"type\": \"event\", \"name\": \"E\", \"inputs\": [{}]}}]",
            topics.trim_end_matches(',')
        );
        assert!(message(&text).contains("type is too large"));
    }

    proptest! {
        #[test]
        fn any_type_text_is_read_or_rejected(ty in "(tuple|uint|bytes)?[a-z0-9\\[\\]() ,]{0,12}") {
            let text = format!(r#"[{{"name": "f", "inputs": [{{"type": "{ty}", "components": []}}]}}]"#);
            if let Ok(abi) = read(&text) {
                let signature = abi.functions[0].signature().to_string();
                prop_assert_eq!(Signature::parse(&signature).unwrap().to_string(), signature);
            }
        }
    }
}
