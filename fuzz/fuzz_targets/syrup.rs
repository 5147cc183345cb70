//! Syrup: all decoders agree, accepted input is written back unchanged, in Endo's key order too, and the crate
//! ocapn-syrup agrees except for its known bugs.
#![no_main]
use libfuzzer_sys::fuzz_target;
use lydite::ocapn::syrup::{self, Document, Error, ErrorKind, NodeRef, Reader, Tape, Value};

fuzz_target!(|data: &[u8]| {
    let tree = Value::decode(data);
    let verdict = tree.as_ref().map(|_| ()).map_err(|error| *error);

    let mut tape = Tape::new();
    assert_eq!(tape.decode(data).map(visit), verdict);
    let document = Document::decode(data);
    assert_eq!(document.map(|document| visit(document.root())), verdict);
    let mut reader = Reader::new(data);
    assert_eq!(reader.raw().and_then(|_| reader.finish()), verdict);

    // Input is canonical if it encodes to itself, including through the lenient decoder.
    let lenient = Value::decode_lenient(data).and_then(|value| syrup::encode(&value));
    // Only the lenient decoder limits keys nested in keys.
    let nested = |error: &syrup::Error| error.kind == syrup::ErrorKind::TooDeep;
    if !lenient.as_ref().is_err_and(nested) {
        assert_eq!(lenient.as_deref() == Ok(data), verdict.is_ok());
    }
    if let Ok(value) = Value::decode_from_endo(data) {
        assert_eq!(syrup::encode_for_endo(&value).as_deref(), Ok(data));
    }
    match tree {
        Ok(tree) => {
            assert_eq!(syrup::encode(&tree).as_deref(), Ok(data));
            assert_eq!(syrup::content_id(&tree), Ok(lydite::hash::sha256(data)));
            let (rest, peer) = ocapn_syrup::parse_value(data).expect("canonical");
            assert!(rest.is_empty());
            assert_eq!(peer.to_vec(), data);
        }
        Err(error) => {
            assert!(error.offset <= data.len());
            if !peer_is_known_to_be_wrong(data, error)
                && let Ok((rest, peer)) = ocapn_syrup::parse_value(data)
            {
                assert!(!rest.is_empty() || peer.to_vec() != data);
            }
        }
    }
});

/// Reads every node of the tape.
fn visit(node: NodeRef<'_, '_>) {
    let mut nodes = vec![node];
    while let Some(node) = nodes.pop() {
        assert!(node.raw().decode::<Value>().is_ok());
        let _ = (
            node.as_bool(),
            node.as_integer(),
            node.as_f64(),
            node.as_f32(),
        );
        let _ = (node.as_bytes(), node.as_str(), node.as_symbol());
        nodes.extend(node.children());
    }
}

/// ocapn-syrup 0.2.0 accepts duplicate keys and NaNs with a payload, panics at lengths beyond the input, and recurses
/// without limit.
fn peer_is_known_to_be_wrong(data: &[u8], error: Error) -> bool {
    matches!(
        error.kind,
        ErrorKind::Duplicate | ErrorKind::NotCanonicalNan | ErrorKind::TooDeep
    ) || data
        .chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit())
        .any(|run| run[0].is_ascii_digit() && run.len() > 4)
}
