//! Runs every example and checks what it prints.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Standard output of a program that must succeed.
fn run(program: &str, arguments: &[&str], input: &str) -> String {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{program}: {}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn recover_sender() {
    let text = run(env!("CARGO_BIN_EXE_recover_sender"), &[], "");
    assert!(
        text.contains("sender  0xf944A4F7a4FFA792363b23459F24Aaf85DD8dC17"),
        "{text}"
    );
}

#[test]
fn block_transactions() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../vectors/tx/hoodi_772457_772461.json"
    );
    let all: Vec<serde_json::Value> =
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let block: Vec<_> = all.iter().filter(|tx| tx["block"] == 772_457).collect();
    let field = |name: &str| {
        let lines = block.iter().map(|tx| tx[name].as_str().unwrap().to_owned());
        lines.collect::<Vec<_>>()
    };
    let text = run(
        env!("CARGO_BIN_EXE_block_transactions"),
        &[],
        &field("raw").join("\n"),
    );
    for (line, (hash, sender)) in text.lines().zip(field("hash").iter().zip(field("sender"))) {
        let expected = format!("{hash} from {sender}");
        assert_eq!(line.to_lowercase(), expected.to_lowercase());
    }
    assert_eq!(text.lines().count(), block.len() + 2);
    assert!(text.ends_with("nodes of the proof: 3\n"), "{text}");
}

#[test]
fn watch_transfers() {
    let word = |digit: &str| format!("0x{}{}", "0".repeat(24), digit.repeat(40));
    let topic = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
    let log = format!("{topic} {} {} 0x{:064x}\n", word("1"), word("2"), 1234);
    let other = format!("{} 0x\n", topic.replace("dd", "ee"));
    let text = run(env!("CARGO_BIN_EXE_watch_transfers"), &[], &(other + &log));
    assert_eq!(
        text,
        format!("0x{} sent 1234 to 0x{}\n", "1".repeat(40), "2".repeat(40))
    );
}

#[test]
fn typed_data() {
    let text = run(env!("CARGO_BIN_EXE_typed_data"), &[], "");
    assert!(
        text.starts_with("0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826 signed 0x"),
        "{text}"
    );
}

#[test]
fn permit() {
    let text = run(env!("CARGO_BIN_EXE_permit"), &[], "");
    // `permit`'s selector, ERC-2612; seven words.
    assert!(text.starts_with("0xd505accf"), "{text}");
    assert_eq!(text.trim().len(), 2 + 8 + 7 * 64);
}

#[test]
fn hash_directory() {
    let folder = folder("hash_directory");
    fs::write(folder.join("a"), "").unwrap();
    fs::write(folder.join("b"), "testing").unwrap();
    let text = run(
        env!("CARGO_BIN_EXE_hash_directory"),
        &[folder.to_str().unwrap()],
        "",
    );
    let hashes: Vec<&str> = text.lines().map(|line| &line[..64]).collect();
    assert_eq!(
        hashes,
        [
            "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
            "5f16f4c7f149ac4f9510d9cf8cf384038ad348b3bcdc01915f95de12df9d1b02",
        ]
    );
}

#[test]
fn merkle_airdrop() {
    assert!(run(env!("CARGO_BIN_EXE_merkle_airdrop"), &[], "").starts_with("root 0x"));
}

#[test]
fn precompile_forks() {
    let text = run(env!("CARGO_BIN_EXE_precompile_forks"), &[], "");
    let lines: Vec<&str> = text.lines().collect();
    // 16 * 255 / 3 by EIP-2565, 16 * 255 by EIP-7883.
    assert!(lines[0].starts_with("Berlin: 1360 gas"), "{text}");
    assert!(lines[1].starts_with("Osaka: 4080 gas"), "{text}");
}

#[test]
fn xmss_signer() {
    let key = folder("xmss_signer").join("key");
    let sign = |input| {
        run(
            env!("CARGO_BIN_EXE_xmss_signer"),
            &[key.to_str().unwrap()],
            input,
        )
    };
    assert!(sign("one\ntwo\n").ends_with("epoch 1: 424 bytes\n"));
    // The record outlives the process.
    assert!(sign("three\n").contains("epoch 2: "));
}

#[test]
fn lean_client() {
    // The key is a published case: `key_gen_epoch_zero` in vectors/xmss/leanvm.json.
    let text = run(env!("CARGO_BIN_EXE_lean_client"), &[], "");
    let key = "febc365e0b1f38bd16acba8d13d2915fc487ed3aef7201c095bf4c74aad6b6e3";
    let slots = "slot 0: valid\nslot 1: valid\nslot 2: valid\nslot 3: valid\n";
    assert_eq!(text, format!("public key {key}\n{slots}"));
}

#[test]
fn syrup_message() {
    let text = run(env!("CARGO_BIN_EXE_syrup_message"), &[], "");
    assert!(
        text.starts_with("<11'op:transfer5\"alice7+[4\"rent8\"november]>"),
        "{text}"
    );
    assert!(text.contains("byte 20"), "{text}");
}

#[test]
fn alloy_one_line() {
    let text = run(env!("CARGO_BIN_EXE_alloy_one_line"), &[], "");
    assert!(text.contains("consensus: true"), "{text}");
    assert!(
        text.contains("sender 0xf944A4F7a4FFA792363b23459F24Aaf85DD8dC17"),
        "{text}"
    );
}
