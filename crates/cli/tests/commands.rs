//! Tests of the executable: every subcommand, standard input, JSON, exit codes and hostile input.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;

/// The EIP-155 example, signed with the key of 32 bytes 0x46.
const TRANSACTION: &str = "0xf86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83";
const SENDER: &str = "0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F";
const KEY: &str = "4646464646464646464646464646464646464646464646464646464646464646";
const EMPTY_HASH: &str = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";

struct Answer {
    code: i32,
    out: String,
    error: String,
}

impl Answer {
    fn json(&self) -> Value {
        assert_eq!(self.error, "");
        serde_json::from_str(&self.out).unwrap()
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lydite"));
    command.args(arguments).env_remove("LYDITE_KEY");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn finish(mut command: Command, input: &[u8]) -> Answer {
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A command that rejects its arguments does not read its input, so writing may fail.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let done = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let answer = Answer {
        code: done.status.code().unwrap(),
        out: String::from_utf8(done.stdout).unwrap(),
        error: String::from_utf8(done.stderr).unwrap(),
    };
    assert!(!answer.error.contains("panicked"), "{}", answer.error);
    answer
}

fn lydite_with(arguments: &[&str], input: &[u8]) -> Answer {
    finish(command(arguments), input)
}

fn lydite(arguments: &[&str]) -> Answer {
    lydite_with(arguments, b"")
}

#[track_caller]
fn done(answer: &Answer, out: &str) {
    assert_eq!(
        (answer.code, answer.out.as_str(), answer.error.as_str()),
        (0, &*format!("{out}\n"), "")
    );
}

#[track_caller]
fn refused(answer: &Answer, error: &str) {
    assert_eq!(
        (answer.code, answer.out.as_str(), answer.error.as_str()),
        (2, "", &*format!("error: {error}\n"))
    );
}

/// Asserts that the input is rejected with an error that starts with this text.
#[track_caller]
fn refused_with(answer: &Answer, error: &str, what: &dyn std::fmt::Debug) {
    assert_eq!((answer.code, answer.out.as_str()), (2, ""), "{what:?}");
    let expected = format!("error: {error}");
    assert!(
        answer.error.starts_with(&expected),
        "{what:?}: {}",
        answer.error
    );
}

#[test]
fn keccak() {
    done(&lydite(&["keccak"]), EMPTY_HASH);
    done(&lydite(&["keccak", "0x"]), EMPTY_HASH);
    done(&lydite_with(&["keccak", "-"], b" 0x\n"), EMPTY_HASH);
    let abc = "0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45";
    done(&lydite(&["keccak", "616263"]), abc);
    done(&lydite(&["keccak", "--raw", "abc"]), abc);
    done(&lydite_with(&["keccak", "--raw"], b"abc"), abc);
    assert_eq!(lydite(&["--json", "keccak", "616263"]).json()["hash"], abc);
    assert_eq!(lydite(&["keccak", "616263", "--json"]).json()["hash"], abc);
    refused(
        &lydite(&["keccak", "61626"]),
        "not hexadecimal data: expected an even number of hexadecimal digits, found 5",
    );
    refused(
        &lydite(&["keccak", "0x6162zz"]),
        "not hexadecimal data: byte 6: expected a hexadecimal digit, found 0x7a",
    );
    refused(
        &lydite_with(&["keccak"], &[0xff, 0xfe]),
        "not hexadecimal data: byte 0: expected a hexadecimal digit, found 0xff",
    );
}

#[test]
fn megabytes_of_input() {
    let zeros = vec![0; 5 << 20];
    let raw = lydite_with(&["keccak", "--raw"], &zeros);
    assert_eq!(raw.code, 0);
    let text = lydite_with(&["keccak"], &vec![b'0'; 10 << 20]);
    assert_eq!(text.out, raw.out);
    for arguments in [
        &["rlp", "decode", "--raw"][..],
        &["tx", "decode", "--raw"],
        &["eip712", "hash"],
        &["checksum"],
    ] {
        assert_eq!(lydite_with(arguments, &zeros).code, 2, "{arguments:?}");
    }
}

#[test]
fn checksum() {
    done(&lydite(&["checksum", &SENDER.to_lowercase()]), SENDER);
    done(&lydite(&["checksum", SENDER]), SENDER);
    done(
        &lydite_with(
            &["checksum"],
            format!("{}\n", SENDER[2..].to_uppercase()).as_bytes(),
        ),
        SENDER,
    );
    let wrong = SENDER.replace('A', "a");
    let answer = lydite(&["checksum", &wrong]);
    assert_eq!((answer.code, answer.out.trim()), (1, SENDER));
    let answer = lydite(&["checksum", "--json", &wrong]);
    assert_eq!(answer.code, 1);
    assert_eq!(answer.json()["matches"], false);
    assert_eq!(
        lydite(&["checksum", "--json", SENDER]).json()["matches"],
        true
    );
    refused(
        &lydite(&["checksum", "0x12"]),
        "not an address: expected 40 hexadecimal digits, found 2",
    );
}

#[test]
fn selector() {
    let expected = "selector   0xa9059cbb\ntopic      0xa9059cbb2ab09eb219583f4a59a5d0623ade346d962bcd4e46b11da047c9049b\nsignature  transfer(address,uint256)";
    done(
        &lydite(&["selector", "transfer(address,uint256)"]),
        expected,
    );
    done(
        &lydite_with(
            &["selector"],
            b"function transfer(address to, uint amount) returns (bool);\n",
        ),
        expected,
    );
    let json = lydite(&[
        "selector",
        "--json",
        "event Transfer(address indexed from, address indexed to, uint256 value)",
    ])
    .json();
    assert_eq!(
        json["topic"],
        "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
    );
    for bad in [
        "",
        "transfer",
        "transfer(address",
        "transfer(adress)",
        "transfer(uint7)",
    ] {
        let answer = lydite(&["selector", bad]);
        assert_eq!(answer.code, 2, "{bad}");
        assert!(
            answer.error.starts_with("error: signature: byte "),
            "{}",
            answer.error
        );
    }
}

#[test]
fn abi() {
    let address = format!("{:0>64}", &SENDER[2..].to_lowercase());
    let (one, minus_two) = (format!("{:064x}", 1), format!("{}e", "f".repeat(63)));
    let expected = format!("0x{address}{minus_two}");
    done(
        &lydite(&["abi", "encode", "(address,int8)", SENDER, "-2"]),
        &expected,
    );
    done(
        &lydite(&["abi", "encode", "address,int8", SENDER, "-2"]),
        &expected,
    );
    done(
        &lydite_with(
            &["abi", "encode", "address,int8"],
            format!("[\"{SENDER}\", -2]\n").as_bytes(),
        ),
        &expected,
    );
    done(
        &lydite(&["abi", "encode", "bool", "true"]),
        &format!("0x{one}"),
    );
    done(&lydite(&["abi", "encode", "f()"]), "0x26121ff0");
    let call = format!("0xa9059cbb{address}{one}");
    done(
        &lydite(&["abi", "encode", "transfer(address,uint256)", SENDER, "0x1"]),
        &call,
    );
    done(
        &lydite(&["abi", "decode", "transfer(address,uint256)", &call]),
        &format!("{SENDER}\n1"),
    );
    done(
        &lydite_with(&["abi", "decode", "(address,int8)"], expected.as_bytes()),
        &format!("{SENDER}\n-2"),
    );

    let types = "(string,(bool,bytes2)[],uint8[2],int16)[],bytes";
    let values = [
        "[(\"a \\\"b\\\", \u{e9}\",[(true,0x0102),(false,0xffff)],[1,255],-3)]",
        "0xabcdef",
    ];
    let data = lydite(&["abi", "encode", types, values[0], values[1]]);
    assert_eq!((data.code, data.error.as_str()), (0, ""));
    done(
        &lydite(&["abi", "decode", types, data.out.trim()]),
        &values.join("\n"),
    );
    let json = lydite_with(&["abi", "decode", "--json", types], data.out.as_bytes());
    let expected = r#"{"values":[[["a \"b\", é",[[true,"0x0102"],[false,"0xffff"]],["1","255"],"-3"]],"0xabcdef"]}"#;
    done(&json, expected);

    let dirty = format!("0x01{}", &address[2..]);
    for (arguments, error) in [
        (
            &["abi", "encode", "uint8", "256"][..],
            "value 1 (uint8): byte 0: ",
        ),
        (
            &["abi", "encode", "bool,uint8", "true", "x"],
            "value 2 (uint8): byte 0: ",
        ),
        (
            &["abi", "encode", "bool,uint8", "true"],
            "expected 2 values, found 1",
        ),
        (
            &["abi", "encode", "bool,unit8", "true", "1"],
            "types: byte 5: ",
        ),
        (&["abi", "encode", "f(unit8)", "1"], "types: byte 2: "),
        (&["abi", "encode", "(uint8", "1"], "types: byte 6: "),
        (
            &["abi", "encode", "uint8"],
            "values (one list from standard input): byte 0: ",
        ),
        (
            &["abi", "decode", "address", &dirty],
            "not valid ABI data for these types: byte 0: ",
        ),
        (
            &["abi", "decode", "uint256", "0x00"],
            "not valid ABI data for these types: byte 1: ",
        ),
        (
            &["abi", "decode", "transfer(address,uint256)", "0x00"],
            "byte 0: expected the selector 0xa9059cbb, found 0x00",
        ),
        (
            &["abi", "decode", "uint256", "0xzz"],
            "not hexadecimal data: byte 2: ",
        ),
    ] {
        let answer = lydite(arguments);
        refused_with(&answer, error, &arguments);
    }
    let huge = format!("0x{:064x}{}", 32, "f".repeat(64));
    assert_eq!(lydite(&["abi", "decode", "uint256[]", &huge]).code, 2);
}

#[test]
#[cfg(target_os = "linux")]
fn full_disk() {
    for arguments in [&["keccak", "00"][..], &["--help"], &["--version"]] {
        let mut command = command(arguments);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        command.stdout(full.unwrap());
        let answer = finish(command, b"");
        assert_eq!(answer.code, 2, "{arguments:?}");
        assert!(
            answer.error.starts_with("error: No space left"),
            "{arguments:?}"
        );
    }
}

#[test]
fn rlp_decode() {
    done(
        &lydite(&["rlp", "decode", "0xc88363617483646f67"]),
        "[\n  \"0x636174\",\n  \"0x646f67\"\n]",
    );
    done(&lydite(&["rlp", "decode", "c0"]), "[]");
    done(&lydite(&["rlp", "decode", "80"]), "\"0x\"");
    let answer = lydite_with(
        &["rlp", "decode", "--json", "--raw"],
        b"\xc7\xc0\xc1\xc0\xc3\xc0\xc1\xc0",
    );
    assert_eq!(answer.out, "{\"item\":[[],[[]],[[],[[]]]]}\n");
    let text = lydite_with(
        &["rlp", "decode", "--raw"],
        b"\xc7\xc0\xc1\xc0\xc3\xc0\xc1\xc0",
    )
    .out;
    assert_eq!(
        text,
        "[\n  [],\n  [\n    []\n  ],\n  [\n    [],\n    [\n      []\n    ]\n  ]\n]\n"
    );
    for (data, error) in [
        ("0x8180", None),
        ("0x8101", Some("not RLP: byte 0:")),
        ("0xbfffffffffffffffff", Some("not RLP: byte 0:")),
        ("0xc483646f", Some("not RLP: byte 0:")),
        ("0xc0c0", Some("not RLP: byte 1:")),
        ("0x", Some("not RLP: byte 0:")),
    ] {
        let answer = lydite(&["rlp", "decode", data]);
        match error {
            None => assert_eq!(answer.code, 0, "{data}"),
            Some(error) => {
                refused_with(&answer, error, &data);
            }
        }
    }
}

/// 100,000 nested lists.
#[test]
fn rlp_nested_deep() {
    let mut data = Vec::new();
    for _ in 0..100_000 {
        let length = data.len();
        // Built back to front.
        if length < 56 {
            data.push(0xc0 + length as u8);
        } else {
            let bytes = length.to_be_bytes();
            let significant = &bytes[length.leading_zeros() as usize / 8..];
            data.extend(significant.iter().rev());
            data.push(0xf7 + significant.len() as u8);
        }
    }
    data.reverse();
    let answer = lydite_with(&["rlp", "decode", "--raw"], &data);
    assert_eq!((answer.code, answer.out.matches('[').count()), (0, 100_000));
    assert!(
        answer.out.len() < 20 * data.len(),
        "{} of {}",
        answer.out.len(),
        data.len()
    );
    assert_eq!(lydite_with(&["tx", "decode", "--raw"], &data).code, 2);
}

#[test]
fn tx_decode() {
    let answer = lydite(&["tx", "decode", "--json", TRANSACTION]);
    assert_eq!(answer.code, 0);
    let json = answer.json();
    assert_eq!(
        json["hash"],
        "0x33469b22e9f636356c4160a87eb19df52b7412e8eac32a4a55ffe88ea8350788"
    );
    assert_eq!(json["sender"], SENDER);
    assert_eq!(json["type"], 0);
    assert_eq!(json["chainId"], 1);
    assert_eq!(json["nonce"], 9);
    assert_eq!(json["gasPrice"], "20000000000");
    assert_eq!(json["gasLimit"], 21000);
    assert_eq!(json["value"], "1000000000000000000");
    assert_eq!(json["yParity"], 0);
    let text = lydite_with(&["tx", "decode"], TRANSACTION.as_bytes()).out;
    assert!(text.contains(&format!("sender    {SENDER}\n")), "{text}");
    for end in 0..TRANSACTION.len() {
        // A sample of all truncations, because each one starts a process.
        if end % 16 == 0 {
            assert_eq!(
                lydite(&["tx", "decode", &TRANSACTION[..end]]).code,
                2,
                "{end}"
            );
        }
    }
    let zero_r = TRANSACTION.replace(
        "28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276",
        &"f".repeat(64),
    );
    let answer = lydite(&["tx", "decode", "--json", &zero_r]);
    assert_eq!(answer.code, 1);
    assert_eq!(answer.json()["sender"], Value::Null);
}

/// Transactions of real blocks, three of each type that occurs.
#[test]
fn tx_decode_of_blocks() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/tx/hoodi_772457_772461.json"
    );
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut types = std::collections::BTreeMap::new();
    for vector in vectors.as_array().unwrap() {
        let kind = vector["type"].as_u64().unwrap();
        let seen = types.entry(kind).or_insert(0);
        *seen += 1;
        if *seen > 3 {
            continue;
        }
        let answer = lydite_with(
            &["tx", "decode", "--json"],
            vector["raw"].as_str().unwrap().as_bytes(),
        )
        .json();
        assert_eq!(answer["hash"], vector["hash"]);
        assert_eq!(answer["type"], kind);
        let sender = answer["sender"].as_str().unwrap();
        assert!(sender.eq_ignore_ascii_case(vector["sender"].as_str().unwrap()));
    }
    assert_eq!(types.into_keys().collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn sign_and_recover() {
    let hash = "0xdaf5a779ae972f972197303d7b574746c7ef83eadac0f2791ad23db92e4c8e53";
    // The example of EIP-155.
    let signature = "0x28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa63627667cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d831b";
    let sign = |arguments: &[&str], input: &[u8]| {
        let mut command = command(arguments);
        command
            .env("LYDITE_KEY", KEY)
            .env("OTHER_KEY", format!("0x{KEY}\n"))
            .env("BAD_KEY", "zz")
            .env("ZERO_KEY", "0".repeat(64));
        finish(command, input)
    };
    done(&sign(&["sign", hash], b""), signature);
    done(&sign(&["sign"], hash.as_bytes()), signature);
    done(
        &sign(&["sign", "--key-env", "OTHER_KEY", hash], b""),
        signature,
    );
    let json = sign(&["sign", "--json", hash], b"").json();
    assert_eq!(
        (&json["signature"], &json["address"], &json["yParity"]),
        (&signature.into(), &SENDER.into(), &0.into())
    );

    done(&lydite(&["recover", hash, signature]), SENDER);
    done(
        &lydite_with(&["recover", "-", signature], hash.as_bytes()),
        SENDER,
    );
    done(
        &lydite(&["recover", hash, &format!("{}00", &signature[..130])]),
        SENDER,
    );
    assert_eq!(
        lydite(&["recover", "--json", hash, signature]).json()["address"],
        SENDER
    );
    assert_eq!(
        lydite(&["recover", "--expect", SENDER, hash, signature]).code,
        0
    );
    assert_eq!(
        lydite(&["recover", "--expect", &"00".repeat(20), hash, signature]).code,
        1
    );

    let message = "Hello, \u{e9}t\u{e9}!\n";
    let signed = sign(&["sign", "--message"], message.as_bytes()).out;
    done(
        &lydite(&["recover", "--message", message, signed.trim()]),
        SENDER,
    );
    assert_ne!(
        lydite(&["recover", "--message", "Hello", signed.trim()])
            .out
            .trim(),
        SENDER
    );

    refused(
        &lydite(&["sign", hash]),
        "key in environment variable LYDITE_KEY: not set",
    );
    refused(
        &sign(&["sign", "--key-env", "BAD_KEY", hash], b""),
        "key in environment variable BAD_KEY: secret key: expected 32 bytes or 64 hexadecimal digits",
    );
    assert!(
        sign(&["sign", "--key-env", "ZERO_KEY", hash], b"")
            .error
            .contains("secret key is not in [1, n - 1]")
    );
    refused(
        &sign(&["sign", "0x12"], b""),
        "hash: expected 64 hexadecimal digits, found 2",
    );
    assert_eq!(
        sign(&["sign", KEY, hash], b"").code,
        2,
        "a key is no argument"
    );
    for bad in [
        "0x",
        &"00".repeat(65),
        &format!("{}1d", &signature[..130]),
        &format!("{}04", &signature[..130]),
    ] {
        let answer = lydite(&["recover", hash, bad]);
        refused_with(&answer, "signature: ", &bad);
        assert_eq!(answer.error.matches("signature").count(), 1);
    }
}

#[cfg(unix)]
#[test]
fn key_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(format!("key-{}", std::process::id()));
    let path_text = path.to_str().unwrap();
    std::fs::write(&path, format!("0x{KEY}\n")).unwrap();
    let mode =
        |mode| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(0o600);
    let answer = lydite(&["sign", "--json", "--key-file", path_text, &"11".repeat(32)]);
    assert_eq!(answer.json()["address"], SENDER);
    mode(0o644);
    refused(
        &lydite(&["sign", "--key-file", path_text, &"11".repeat(32)]),
        &format!("key file {path_text}: accessible to other users (mode 644); run chmod 600"),
    );
    std::fs::write(&path, "1".repeat(10_000)).unwrap();
    mode(0o400);
    assert_eq!(
        lydite(&["sign", "--key-file", path_text, &"11".repeat(32)]).code,
        2
    );
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        lydite(&["sign", "--key-file", path_text, &"11".repeat(32)]).code,
        2
    );
}

#[test]
fn eip712_hash() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/eth-ops/vectors.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let vector = &vectors["eip712_hash_typed_data"];
    let document = vector["input"].to_string();
    let expected = vector["expected"].as_str().unwrap();
    done(
        &lydite_with(&["eip712", "hash"], document.as_bytes()),
        expected,
    );
    done(
        &lydite_with(&["eip712", "hash", "-"], document.as_bytes()),
        expected,
    );
    let file = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("typed-{}", std::process::id()));
    std::fs::write(&file, &document).unwrap();
    let json = lydite(&["eip712", "hash", "--json", file.to_str().unwrap()]).json();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(json["signingHash"], expected);
    assert_eq!(json["encodeType"], "Transfer(address to,uint256 amount)");

    let bad = document.replace("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0xf3");
    let answer = lydite_with(&["eip712", "hash"], bad.as_bytes());
    assert_eq!(answer.code, 2);
    assert!(
        answer
            .error
            .starts_with("error: domain.verifyingContract: not an address: expected 40"),
        "{}",
        answer.error
    );
    assert_eq!(lydite(&["eip712", "hash", "/no/such/file"]).code, 2);
}

#[test]
fn binary_garbage() {
    let garbage: Vec<u8> = (0..100_000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    for arguments in [
        &["keccak"][..],
        &["checksum"],
        &["rlp", "decode"],
        &["rlp", "decode", "--raw"],
        &["tx", "decode"],
        &["tx", "decode", "--raw"],
        &["abi", "decode", "(string,bytes,uint256[])", "--raw"],
        &["abi", "encode", "string[]"],
        &["selector"],
        &["recover", "-", "00"],
        &["sign", "-"],
        &["eip712", "hash"],
    ] {
        let answer = lydite_with(arguments, &garbage);
        refused_with(&answer, "", &arguments);
    }
}

#[test]
fn usage() {
    assert_eq!(lydite(&["--help"]).code, 0);
    assert_eq!(
        lydite(&["--version"]).out.trim(),
        concat!("lydite ", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(lydite(&[]).code, 2);
    assert_eq!(lydite(&["no-such-command"]).code, 2);
}

/// The reader closes the pipe before all output is written.
#[test]
fn broken_pipe() {
    let mut child = command(&["rlp", "decode", "--raw"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let payload = vec![0x7f; 4 << 20];
        let mut data = vec![0xfa, 0x40, 0, 0];
        data.extend(payload);
        drop(stdin.write_all(&data));
    });
    drop(child.stdout.take());
    writer.join().unwrap();
    let mut error = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut error)
        .unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), error.as_str()),
        (Some(0), "")
    );
}

/// A temporary directory, removed on drop.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lydite-cli-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn xmss(arguments: &str, input: &[u8]) -> Answer {
    let arguments: Vec<&str> = ["xmss"].into_iter().chain(arguments.split(' ')).collect();
    finish(command(&arguments), input)
}

#[test]
fn xmss_keys_sign_each_epoch_once() {
    let folder = Folder::new("xmss");
    let (key, file) = (folder.file("key"), folder.file("signature"));
    let (message, other) = ("11".repeat(32), "22".repeat(32));
    let made = xmss(
        &format!("keygen --scheme leansig-test --epochs 256 --out {key} --json"),
        b"",
    );
    assert_eq!(made.code, 0, "{}", made.error);
    let public_key = made.json()["public_key"].as_str().unwrap().to_owned();
    assert_eq!(
        xmss(&format!("keygen --scheme leansig-test --out {key}"), b"").code,
        2
    );

    let sign = |epoch: u32, message: &str, rest: &str| {
        xmss(
            &format!(
                "sign --scheme leansig-test --key {key} --epoch {epoch} --message {message}{rest}"
            ),
            b"",
        )
    };
    let signed = sign(5, &message, "");
    assert_eq!(signed.code, 0, "{}", signed.error);
    for (epoch, message) in [(5, &message), (5, &other), (4, &message)] {
        let refused = sign(epoch, message, "");
        assert_eq!(refused.code, 2);
        assert!(refused.error.contains("spent"), "{}", refused.error);
        assert_eq!(refused.out, "");
    }
    // Beyond the window, which moves
    assert_eq!(sign(100, &message, &format!(" --out {file}")).code, 0);
    let shown = xmss(
        &format!("inspect --scheme leansig-test --key {key} --json"),
        b"",
    )
    .json();
    assert_eq!(shown["public_key"], public_key.as_str());
    assert_eq!(shown["unspent"], "101..256");
    assert_eq!(shown["prepared"], "80..112");
    let moved = xmss(
        &format!("advance --scheme leansig-test --key {key} --json"),
        b"",
    )
    .json();
    assert_eq!(moved["prepared"], "96..128");

    let verify = |epoch: u32, message: &str, signature: &str, input: &[u8]| {
        xmss(
            &format!(
                "verify --scheme leansig-test --pk {public_key} --epoch {epoch} --message {message} \
                 --signature {signature}"
            ),
            input,
        )
        .code
    };
    let text = signed.out.as_bytes();
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(verify(5, &message, "-", text), 0);
    assert_eq!(verify(100, &message, &file, b""), 0);
    assert_eq!(verify(100, &message, "-", &bytes), 0);
    assert_eq!(verify(6, &message, "-", text), 1);
    assert_eq!(verify(5, &other, "-", text), 1);
    assert_eq!(verify(256, &message, "-", text), 1);
    assert_eq!(verify(5, &message[2..], "-", text), 2);
    assert_eq!(verify(5, &message, "-", &text[..text.len() - 3]), 2);
    assert_eq!(verify(5, &message, "-", b""), 2);
    assert_eq!(verify(5, &message, &folder.file("none"), b""), 2);
    let mut high = bytes.clone();
    high[4..8].fill(0xff);
    assert_eq!(verify(100, &message, "-", &high), 2);
}

#[test]
fn xmss_signatures_overwrite_nothing() {
    let folder = Folder::new("xmss-out");
    let key = folder.file("key");
    let made = xmss(
        &format!("keygen --scheme leansig-test --epochs 256 --out {key}"),
        b"",
    );
    assert_eq!(made.code, 0, "{}", made.error);
    let sign = |epoch: u32, out: &str| {
        let message = "11".repeat(32);
        xmss(
            &format!(
                "sign --scheme leansig-test --key {key} --epoch {epoch} --message {message}{out}"
            ),
            b"",
        )
    };
    let other = folder.file("other");
    std::fs::write(&other, "precious").unwrap();
    let link = folder.file("link");
    std::fs::hard_link(&key, &link).unwrap();
    let record = format!("{key}.epoch");
    let before: Vec<_> = [&key, &record, &other]
        .map(|path| std::fs::read(path).unwrap())
        .into();
    let (none, folder_path) = (folder.file("none/signature"), folder.file(""));
    for out in [
        &key,
        &record,
        &link,
        &other,
        &format!("{key}.new"),
        &none,
        &folder_path,
    ] {
        let refused = sign(5, &format!(" --out {out}"));
        assert_eq!((refused.code, refused.out.as_str()), (2, ""), "{out}");
        assert!(refused.error.contains("--out: "), "{}", refused.error);
    }
    let after: Vec<_> = [&key, &record, &other]
        .map(|path| std::fs::read(path).unwrap())
        .into();
    assert!(before == after);
    // No epoch was spent, and a rejected epoch leaves no file.
    let out = folder.file("signature");
    assert_eq!(sign(5, &format!(" --out {out}")).code, 0);
    assert_eq!(std::fs::metadata(&out).unwrap().len(), 424);
    let out = folder.file("again");
    let refused = sign(5, &format!(" --out {out}"));
    assert_eq!(refused.code, 2);
    assert!(refused.error.contains("spent"), "{}", refused.error);
    assert!(!std::path::Path::new(&out).exists());
}

/// `.ci/xmss` also tests a failure of the signature file.
#[cfg(target_os = "linux")]
#[test]
fn xmss_reports_an_epoch_whose_signature_was_lost() {
    let folder = Folder::new("xmss-full");
    let key = folder.file("key");
    let made = xmss(
        &format!("keygen --scheme leansig-test --epochs 256 --out {key}"),
        b"",
    );
    assert_eq!(made.code, 0, "{}", made.error);
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    for (epoch, out) in [("5", Stdio::from(closed)), ("6", Stdio::from(full))] {
        let message = "11".repeat(32);
        let mut sign = command(&["xmss", "sign", "--scheme", "leansig-test", "--key", &key]);
        sign.args(["--epoch", epoch, "--message", &message])
            .stdout(out);
        let lost = finish(sign, b"");
        assert_eq!(lost.code, 2);
        let expected =
            format!("error: epoch {epoch} is spent, and its signature was not written: ");
        assert!(lost.error.starts_with(&expected), "{}", lost.error);
    }
}

#[cfg(unix)]
#[test]
fn xmss_adopts_keys_made_elsewhere() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("xmss-adopt");
    let key = folder.file("key");
    let vectors: Value = serde_json::from_str(
        &std::fs::read_to_string(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/vectors/xmss/test_2e8_dim4_full.json"
        ))
        .unwrap(),
    )
    .unwrap();
    std::fs::write(
        &key,
        lydite::bytes::hex::decode(vectors["sk_ssz"].as_str().unwrap()).unwrap(),
    )
    .unwrap();
    let case = &vectors["signatures"][4];
    let epoch = case["epoch"].as_u64().unwrap();
    let run = |arguments: &str| {
        xmss(
            &format!("{arguments} --scheme leansig-test --key {key}"),
            b"",
        )
    };
    let set = |mode| std::fs::set_permissions(&key, std::fs::Permissions::from_mode(mode)).unwrap();
    set(0o644);
    refused(
        &run("inspect"),
        &format!("{key}: accessible to other users (mode 644); run chmod 600"),
    );
    set(0o600);
    let message = case["message"].as_str().unwrap();
    let sign = format!("sign --epoch {epoch} --message {message}");
    for arguments in ["inspect", "advance", &sign] {
        let missing = run(arguments);
        assert_eq!(missing.code, 2);
        let remedy = format!("lydite xmss adopt --key {key} --next EPOCH");
        assert!(missing.error.contains(&remedy), "{}", missing.error);
    }
    assert_eq!(run("adopt --next 4294967297").code, 2);
    let adopted = run(&format!("adopt --next {epoch} --json")).json();
    assert_eq!(adopted["public_key"], vectors["pk_ssz"]);
    assert_eq!(adopted["unspent"], format!("{epoch}..256"));
    let again = run("adopt --next 0");
    refused(&again, &format!("{key}.epoch: already exists"));
    let earlier = format!("sign --epoch {} --message {message}", epoch - 1);
    assert!(run(&earlier).error.contains("spent"));
    assert_eq!(run(&sign).out.trim(), case["sig_ssz"]);
}

/// leanVM's set: the published key and signature (`vectors/xmss/leanvm.json`).
#[test]
fn xmss_signs_like_leanvm() {
    let file = include_str!("../vectors/xmss/leanvm.json");
    let vectors: serde_json::Value = serde_json::from_str(file).unwrap();
    let case = &vectors["sign"][1];
    let (input, signature) = (&case["input"], case["output"].as_str().unwrap());
    let folder = Folder::new("leanvm");
    let key = folder.file("key");
    let text = |name: &str| input[name].to_string().replace('"', "");
    let made = xmss(
        &format!(
            "keygen --scheme leanvm --activation {} --epochs 5 --seed {} --out {key} --json",
            text("epoch_start"),
            text("seed")
        ),
        b"",
    );
    assert_eq!(made.json()["public_key"], vectors["key_gen"][1]["output"]);
    let (epoch, message) = (text("epoch"), text("message"));
    let sign = format!("sign --scheme leanvm --key {key} --epoch {epoch} --message {message}");
    assert_eq!(xmss(&sign, b"").out.trim(), signature);
    assert!(xmss(&sign, b"").error.contains("spent"));
    let public_key = made.json()["public_key"].to_string().replace('"', "");
    let verify = format!(
        "verify --scheme leanvm --pk {public_key} --epoch {epoch} --message {message} --signature -"
    );
    assert_eq!(xmss(&verify, signature.as_bytes()).code, 0);
    assert_eq!(xmss(&verify, &signature.as_bytes()[2..]).code, 2);
}

/// A keystore signs what its key signs (the same published case), each epoch once, and only from its range.
#[test]
fn xmss_signs_from_keystores() {
    let file = include_str!("../vectors/xmss/leanvm.json");
    let vectors: serde_json::Value = serde_json::from_str(file).unwrap();
    let case = &vectors["sign"][1];
    let (input, signature) = (&case["input"], case["output"].as_str().unwrap());
    let text = |name: &str| input[name].to_string().replace('"', "");
    let first: u64 = text("epoch_start").parse().unwrap();
    let (epoch, message) = (text("epoch"), text("message"));
    let folder = Folder::new("keystore");
    let (password, wrong) = (folder.file("password"), folder.file("wrong"));
    std::fs::write(&password, "correct horse\r\n").unwrap();
    std::fs::write(&wrong, "battery staple").unwrap();
    let keygen = |key: &str, more: &str| {
        let seed = text("seed");
        xmss(
            &format!(
                "keygen --scheme leanvm --activation {first} --epochs 5 --seed {seed} --out {key} --json \
                 --password-file {password} --scrypt-log-n 4{more}"
            ),
            b"",
        )
    };
    let key = folder.file("key.json");
    let made = keygen(&key, "");
    assert_eq!(made.json()["public_key"], vectors["key_gen"][1]["output"]);
    assert!(
        !std::fs::read_to_string(&key)
            .unwrap()
            .contains(&text("seed"))
    );
    assert!(keygen(&key, "").error.contains("already exists"));
    let sign = |key: &str, more: &str| {
        let fixed = format!("sign --scheme leanvm --key {key} --epoch {epoch} --message {message}");
        xmss(&format!("{fixed}{more}"), b"")
    };
    let right = format!(" --password-file {password}");
    assert!(
        sign(&key, "")
            .error
            .contains("a keystore needs --password-file")
    );
    let refused = sign(&key, &format!(" --password-file {wrong}"));
    assert!(
        refused.error.contains("wrong password"),
        "{}",
        refused.error
    );
    assert_eq!(sign(&key, &right).out.trim(), signature);
    assert!(sign(&key, &right).error.contains("spent"));
    // Without its record it does not sign, until its owner says which epochs are spent.
    std::fs::remove_file(format!("{key}.epoch")).unwrap();
    assert!(sign(&key, &right).error.contains("lydite xmss adopt"));
    let next: u64 = epoch.parse::<u64>().unwrap() + 1;
    let adopt = format!("adopt --scheme leanvm --key {key} --next {next}{right} --json");
    let shown = xmss(&adopt, b"");
    assert_eq!(shown.json()["unspent"], format!("{next}..{}", first + 5));
    assert!(sign(&key, &right).error.contains("spent"));

    let shared = folder.file("shared.json");
    let reserve = format!(
        " --reserve a={first}..{} --reserve b={}..{}",
        first + 2,
        first + 2,
        first + 5
    );
    assert_eq!(keygen(&shared, &reserve).code, 0);
    assert!(
        sign(&shared, &right)
            .error
            .contains("expected the name of a range")
    );
    assert!(
        sign(&shared, &format!("{right} --range c"))
            .error
            .contains("no range is named")
    );
    assert_eq!(sign(&shared, &format!("{right} --range a")).code, 2);
    assert_eq!(
        sign(&shared, &format!("{right} --range b")).out.trim(),
        signature
    );
    for bad in ["a=1", "a=1..x", "1..2"] {
        assert!(
            keygen(&shared, &format!(" --reserve {bad}"))
                .error
                .contains("NAME=START..END")
        );
    }
    let other = keygen(
        &folder.file("other"),
        &format!(" --reserve a={first}..{}", first + 9),
    );
    assert!(
        other.error.contains("expected epochs within"),
        "{}",
        other.error
    );
    assert!(!std::path::Path::new(&folder.file("other")).exists());
}

#[test]
fn xmss_makes_the_reports_key() {
    let seed = "42".repeat(32);
    let made = xmss(
        &format!("keygen --scheme hash-sig-2025 --seed {seed} --epochs 1024"),
        b"",
    );
    assert_eq!(made.code, 0, "{}", made.error);
    for line in [
        "PUBLIC_SHA3: 1c08978516fc02857ac3684266ef3f35fcbbfb43ba4d61d4534ad2455721e77e\n",
        "VERIFY_OK: true\n",
        "BENCHMARK_RESULT: ",
    ] {
        assert!(made.out.contains(line), "{}", made.out);
    }
}

/// Killed repeatedly while it signs: no epoch may ever be signed twice.
#[cfg(unix)]
#[test]
fn xmss_killed_while_signing() {
    let folder = Folder::new("xmss-kill");
    let key = folder.file("key");
    let made = xmss(
        &format!("keygen --scheme leansig-test --epochs 256 --out {key}"),
        b"",
    );
    assert_eq!(made.code, 0, "{}", made.error);
    let mut given_out = Vec::new();
    for epoch in 0..120_u32 {
        let message = format!("{epoch:02x}").repeat(32);
        let line = epoch.to_string();
        let mut child = command(&[
            "xmss",
            "sign",
            "--scheme",
            "leansig-test",
            "--key",
            &key,
            "--epoch",
            &line,
            "--message",
            &message,
        ])
        .spawn()
        .unwrap();
        // At different times in the life of the process, which is a few milliseconds; some kills hit window moves.
        std::thread::sleep(std::time::Duration::from_micros(
            u64::from(epoch % 40) * 150,
        ));
        let _ = child.kill();
        let done = child.wait_with_output().unwrap();
        if !done.stdout.is_empty() {
            given_out.push(epoch);
        }
        if epoch % 10 == 9 {
            let shown = xmss(
                &format!("inspect --scheme leansig-test --key {key} --json"),
                b"",
            )
            .json();
            let unspent: u32 = shown["unspent"]
                .as_str()
                .unwrap()
                .split("..")
                .next()
                .unwrap()
                .parse()
                .unwrap();
            for spent in &given_out {
                assert!(unspent > *spent);
            }
        }
    }
    for epoch in &given_out {
        let again = xmss(
            &format!(
                "sign --scheme leansig-test --key {key} --epoch {epoch} --message {}",
                "ff".repeat(32)
            ),
            b"",
        );
        assert_eq!((again.code, again.out.as_str()), (2, ""));
    }
    assert_eq!(
        xmss(
            &format!(
                "sign --scheme leansig-test --key {key} --epoch 200 --message {}",
                "ff".repeat(32)
            ),
            b""
        )
        .code,
        0
    );
}

/// SHA-256 of "abc", and its gas.
#[test]
fn precompile() {
    let digest = "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    for address in ["2", "0x2", "0x0000000000000000000000000000000000000002"] {
        let answer = lydite(&["precompile", address, "--input", "616263"]);
        done(&answer, &format!("output  {digest}\ngas     72"));
    }
    let answer = lydite_with(&["--json", "precompile", "2"], b"0x616263\n").json();
    assert_eq!(
        (answer["output"].as_str(), answer["gas"].as_u64()),
        (Some(digest), Some(72))
    );
    // Gas by fork, too little gas, and a precompile that the fork does not have.
    for (fork, gas) in [("byzantium", 500), ("istanbul", 150), ("Osaka", 150)] {
        let answer = lydite(&["--json", "precompile", "6", "--input", "", "--fork", fork]).json();
        assert_eq!(answer["gas"], gas, "{fork}");
    }
    let answer = lydite(&["precompile", "6", "--input", "", "--gas", "149"]);
    assert_eq!(
        (answer.code, &*answer.out),
        (1, "failed  out of gas\ngas     149\n")
    );
    refused(
        &lydite(&["precompile", "0x100", "--input", "", "--fork", "prague"]),
        "prague has no precompiled contract at 0x100",
    );
    refused(
        &lydite(&["precompile", "1", "--input", "0x0g"]),
        "input: not hexadecimal data: byte 3: expected a hexadecimal digit, found 0x67",
    );
    for arguments in [
        ["precompile", "65536"],
        ["precompile", "0x"],
        ["precompile", "-1"],
    ] {
        assert_eq!(lydite(&arguments).code, 2);
    }
    assert_eq!(lydite(&["precompile", "2", "--fork", "spaceship"]).code, 2);
}

#[test]
fn evm_run() {
    // A CALL to SHA-256 with "abc" in memory, returning its output.
    let code = "6261626360e81b5f5260205f60035f5f60025af160205ff3";
    let answer = lydite(&["--json", "evm", "run", "--code", code]).json();
    assert_eq!(answer["status"], "success");
    assert_eq!(
        answer["output"],
        "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    // The call data, copied and returned: 3 + 3 (one word) + 3 for memory, plus 2 + 2 + 2 + 2 + 2.
    let answer = lydite(&[
        "evm",
        "run",
        "--code",
        "0x365f5f37365ff3",
        "--input",
        "0x0102",
    ]);
    done(&answer, "status  success\noutput  0x0102\ngas     19");
    // PUSH0 was introduced in Shanghai.
    let answer = lydite(&[
        "evm", "run", "--code", "5f", "--fork", "paris", "--gas", "50",
    ]);
    assert_eq!(answer.code, 1);
    assert!(answer.out.starts_with("status  halt: "), "{}", answer.out);
    assert!(answer.out.ends_with("gas     50\n"), "{}", answer.out);
    let answer = lydite_with(&["evm", "run"], b"5f5ffd");
    assert_eq!(
        (answer.code, &*answer.out),
        (1, "status  revert\noutput  0x\ngas     4\n")
    );
    refused(
        &lydite(&["evm", "run", "--code", "5"]),
        "code: not hexadecimal data: expected an even number of hexadecimal digits, found 1",
    );
}

#[test]
fn syrup_in_json_and_back() {
    let file = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/syrup/vectors.json"
    ));
    let vectors: Value = serde_json::from_str(file).unwrap();
    // One message per type; the library's tests cover all others.
    for id in [
        "rec-skill",
        "zoo",
        "f32-1",
        "f64-nan",
        "f64-neg0",
        "f64--inf",
        "int-big-79d-neg",
        "set-bytes",
        "dict-nonstr",
        "handoff-give",
    ] {
        let zoo = include_bytes!("../vectors/syrup/zoo.bin");
        let mut cases = vectors.as_array().unwrap().iter();
        let bytes = match cases.find(|case| case["id"] == id) {
            Some(case) => lydite::bytes::hex::decode(case["hex"].as_str().unwrap()).unwrap(),
            None => zoo.to_vec(),
        };
        let decoded = lydite_with(&["syrup", "decode"], &bytes);
        assert_eq!((decoded.code, decoded.error.as_str()), (0, ""), "{id}");
        let encoded = lydite_with(&["syrup", "encode", "--hex"], decoded.out.as_bytes());
        let hex = lydite::bytes::hex::encode_prefixed(&bytes);
        assert_eq!(encoded.out.trim_end(), hex, "{id}");
        let answer = lydite(&["syrup", "decode", "--hex", &hex, "--json"]);
        assert_eq!(answer.json()["value"], decoded.json(), "{id}");
        assert_eq!(lydite(&["syrup", "check", "--hex", &hex]).code, 0);
        let id = lydite(&["syrup", "cid", "--hex", &hex]).out;
        assert_eq!(
            id.trim_end(),
            lydite::bytes::hex::encode_prefixed(lydite::hash::sha256(&bytes))
        );
    }
    let raw = lydite(&[
        "syrup",
        "encode",
        r#"{"dictionary":[["b",1],["a",{"symbol":"x"}]]}"#,
    ]);
    assert_eq!(raw.out, "{1\"a1'x1\"b1+}");
}

#[test]
fn syrup_errors() {
    let check = lydite(&["syrup", "check", "[1+02+]"]);
    assert_eq!(
        (check.code, check.error.as_str()),
        (1, "error: byte 3: leading zero\n")
    );
    assert_eq!(lydite(&["syrup", "check", "1+1+"]).code, 1);
    assert_eq!(lydite(&["syrup", "check", ""]).code, 1);
    let decode = lydite(&["syrup", "decode", "[1+02+]"]);
    assert_eq!(decode.code, 2);
    assert_eq!(
        decode.error,
        "error: not canonical Syrup: byte 3: leading zero\n"
    );
    assert_eq!(
        lydite(&["syrup", "decode", "--lenient", "(1+ 02+)"]).out,
        "[1,2]\n"
    );
    // Keys in the order of their text, as in Endo.
    let dictionary = r#"{"dictionary":[["b",1],["aa",2]]}"#;
    let endos = "{2\"aa2+1\"b1+}";
    assert_eq!(
        lydite(&["syrup", "encode", dictionary]).out,
        "{1\"b1+2\"aa2+}"
    );
    assert_eq!(
        lydite(&["syrup", "encode", "--endo", dictionary]).out,
        endos
    );
    assert_eq!(
        lydite(&["syrup", "decode", "--endo", endos]).out,
        "{\"dictionary\":[[\"aa\",2],[\"b\",1]]}\n"
    );
    assert_eq!(lydite(&["syrup", "decode", endos]).code, 2);
    for json in [
        "",
        "null",
        "{}",
        r#"{"symbol":1}"#,
        r#"{"float32":0.1}"#,
        r#"{"set":[1,1]}"#,
        r#"{"a":1,"b":2}"#,
        r#"{"record":[]}"#,
    ] {
        assert_eq!(lydite(&["syrup", "encode", json]).code, 2, "{json}");
    }
}

#[test]
fn captp_streams_are_shown() {
    let file = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/vectors/syrup/vectors.json"
    ));
    let vectors: Value = serde_json::from_str(file).unwrap();
    let bytes = |id: &str| {
        let mut cases = vectors.as_array().unwrap().iter();
        let case = cases.find(|case| case["id"] == id).unwrap();
        lydite::bytes::hex::decode(case["hex"].as_str().unwrap()).unwrap()
    };
    let messages = [
        bytes("start-session"),
        bytes("op-deliver-only-old"),
        bytes("op-abort"),
    ];
    let framed: Vec<u8> = messages
        .iter()
        .flat_map(|message| [format!("{}:", message.len()).as_bytes(), message].concat())
        .collect();
    for (arguments, stream) in [
        (&["captp", "inspect", "--json"][..], messages.concat()),
        (
            &["captp", "inspect", "--json", "--framing", "length"],
            framed,
        ),
    ] {
        let answer = lydite_with(arguments, &stream);
        assert_eq!((answer.code, answer.error.as_str()), (0, ""));
        let lines: Vec<Value> = answer
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0]["remarks"][0], "signature valid");
        assert_eq!(lines[1]["dialects"], serde_json::json!(["suite-2026-02"]));
        assert_eq!(lines[1]["length"], 47);
        assert_eq!(
            lines[2]["message"],
            serde_json::json!({"record": [{"symbol": "op:abort"}, "reason"]})
        );
        assert_eq!(lines[2]["dialects"].as_array().unwrap().len(), 3);
    }
    let other = lydite(&["captp", "inspect", "<8'op:abort6\"reason>[]"]);
    assert_eq!(other.code, 1);
    assert_eq!(other.out.lines().count(), 4);
    assert!(
        other.out.contains(
            "byte 20, 2 bytes; not an operation: byte 0: value is not of the expected type"
        )
    );
    let cut = lydite(&["captp", "inspect", "<8'op:abort"]);
    assert_eq!(
        (cut.code, cut.error.as_str()),
        (
            2,
            "error: unexpected end of the stream, 11 bytes into a message\n"
        )
    );
    let bad = lydite(&["captp", "inspect", "1+]"]);
    assert_eq!(
        (bad.code, bad.error.as_str()),
        (
            2,
            "error: not a stream of CapTP messages: byte 2: unexpected byte\n"
        )
    );
}
