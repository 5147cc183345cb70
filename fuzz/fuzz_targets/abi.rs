//! ABI: a line of text with the types, then data. Data is canonical if the decoded values encode to it again; the view,
//! the tree and compiled types agree; what one mode accepts, every laxer mode accepts with the same values.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::{
    bytes::U256,
    evm::abi::{self, Codec, Mode, Type, Value},
};

/// The types used for the compiled form.
const COMPILED: &str = "(string,bytes,uint256[])";

fuzz_target!(|input: &[u8]| {
    let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
        return;
    };
    let (types, data) = (&input[..end], &input[end + 1..]);
    let Ok(Ok(ty)) = str::from_utf8(types).map(Type::parse) else {
        return;
    };
    let Ok(codec) = Codec::new(&ty) else { return };
    let view = codec.view(data);
    let decoded = codec.decode(data);
    assert_eq!(view.as_ref().err(), decoded.as_ref().err());
    let lenient = codec.decode_with(data, Mode::Lenient);
    let canonical = codec.decode_with(data, Mode::Canonical);
    if let Ok(values) = &decoded {
        assert!(
            view.unwrap()
                .iter()
                .map(Value::from)
                .eq(values.iter().cloned())
        );
        assert_eq!(lenient.as_ref(), Ok(values));
        let encoded = codec.encode(values).unwrap();
        assert_eq!(canonical.as_ref().ok(), (encoded == data).then_some(values));
        let mut buffer = vec![0xaa; encoded.len()];
        assert_eq!(codec.encode_into(values, &mut buffer), Ok(encoded.len()));
        assert_eq!(buffer, encoded);
    } else {
        assert!(canonical.is_err());
    }
    if let Ok(values) = lenient {
        let encoded = codec.encode(&values).unwrap();
        assert_eq!(codec.decode(&encoded), Ok(values.clone()));
        let _ = abi::encode_packed(&values);
    }
    if ty.to_string() == COMPILED {
        let compiled = abi::decode::<(&str, &[u8], Vec<U256>)>(data);
        assert_eq!(compiled.is_ok(), decoded.is_ok());
        if let (Ok(compiled), Ok(values)) = (compiled, decoded) {
            assert_eq!(abi::encode(&compiled), codec.encode(&values).unwrap());
        }
    }
});
