//! The bytes of a Parquet file, from which logs are decoded: the result is a complete file or an error, never a panic or
//! more memory than the file explains.
#![no_main]

use std::{num::NonZeroUsize, ops::ControlFlow, path::PathBuf};

use libfuzzer_sys::fuzz_target;
use lydite_arrow::{EventDecoder, EventSet};
use lydite_bulk::{Options, decode_logs, inspect};

const TRANSFER: &str = "event Transfer(address indexed from, address indexed to, uint256 value)";

fuzz_target!(|file: &[u8]| {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() {
        memory
    } else {
        std::env::temp_dir()
    };
    let folder = parent.join(format!("lydite-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for files");
    let (input, output) = (folder.join("input.parquet"), folder.join("output.parquet"));
    std::fs::write(&input, file).expect("space for a file");
    let _ = inspect(&input, &Default::default());
    let decoder = EventDecoder::parse(TRANSFER, &Default::default()).expect("a signature");
    let events = EventSet::new([decoder]).expect("one event");
    let options = Options {
        threads: NonZeroUsize::new(1),
        memory: Some(16 << 20),
        ..Options::default()
    };
    let result = decode_logs(&[input], &output, &events, &options, &|_| {
        ControlFlow::Continue(())
    });
    assert_eq!(result.is_ok(), output.exists());
    let left = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(left, 1 + usize::from(output.exists()), "temporary files");
    std::fs::remove_dir_all(&folder).expect("the folder");
});
