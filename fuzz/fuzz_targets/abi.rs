//! ABI decoding of many types: what strict decoding accepts comes back from its encoding.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::{
    bytes::U256,
    evm::abi::{self, Codec, Mode, Value},
};

const TYPES: [&str; 11] = [
    "(uint256)",
    "(bool,uint8,int16,address,bytes4)",
    "(string,bytes,uint256[])",
    "(bytes[],string[2],(uint64,bytes)[])",
    "(uint8[][][])",
    "((bytes,(string,bool)[3])[],int256)",
    "(uint256[3][2],bytes32)",
    "(string[][2][])",
    "(function,address[])",
    "(bytes1,bytes31,uint24,int200)",
    "(((((bytes)))))",
];

fuzz_target!(|input: (u8, &[u8])| {
    let (pick, data) = input;
    let codec = Codec::parse(TYPES[usize::from(pick) % TYPES.len()]).unwrap();
    let view = codec.view(data);
    assert_eq!(view.is_ok(), codec.decode(data).is_ok());
    if let Ok(values) = codec.decode(data) {
        assert!(
            view.unwrap()
                .iter()
                .map(Value::from)
                .eq(values.iter().cloned())
        );
        let encoded = codec.encode(&values).unwrap();
        assert_eq!(codec.decode(&encoded), Ok(values.clone()));
        let mut buffer = vec![0xaa; encoded.len()];
        assert_eq!(codec.encode_into(&values, &mut buffer), Ok(encoded.len()));
        assert_eq!(buffer, encoded);
    }
    let _ = codec.decode_with(data, Mode::Lenient);
    // The form compiled from Rust types accepts the same and gives the same.
    let compiled = abi::decode::<(&str, &[u8], Vec<U256>)>(data);
    let at_run_time = Codec::parse(TYPES[2]).unwrap().decode(data);
    assert_eq!(compiled.is_ok(), at_run_time.is_ok());
    if let (Ok(compiled), Ok(values)) = (compiled, at_run_time) {
        assert_eq!(
            abi::encode(&compiled),
            Codec::parse(TYPES[2]).unwrap().encode(&values).unwrap()
        );
    }
});
