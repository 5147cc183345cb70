//! The fingerprint of the work that made an output, by which an interrupted run continues.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use arrow_ipc::reader::FileReader;
use lydite_arrow::{Job, Transform};
use lydite_bytes::hex;
use lydite_hash::Sha256;
use parquet::file::reader::{FileReader as _, SerializedFileReader};

use crate::{Options, error::ErrorKind, guard::guard, paths::InputFile};

/// The key of the fingerprint among the metadata of an output.
pub(crate) const KEY: &str = "lydite.job";
/// Bytes at the end of a Parquet file that are hashed. Those of common files contain the footer, which has the place,
/// the length and the statistics of all columns.
const TAIL: u64 = 1 << 20;
/// The names of temporary files start and end like this.
pub(crate) const TEMPORARY: (&str, &str) = (".lydite-", ".tmp");

/// Returns how the names of the temporary files start for which a run has locked this one. See [`locked_file`].
pub(crate) fn prefix_of_run(locked: &Path) -> String {
    let name = locked.file_stem().unwrap_or_default();
    format!("{}-", name.to_string_lossy())
}

/// Returns the name of the file that is locked while the temporary file of this name is in use: `.lydite-A.tmp` for
/// itself and for `.lydite-A-B.tmp`.
fn locked_file(name: &str) -> Option<String> {
    let (start, end) = TEMPORARY;
    let middle = name.strip_prefix(start)?.strip_suffix(end)?;
    let run = middle.split('-').next()?;
    Some(format!("{start}{run}{end}"))
}

/// Describes the job, all options on which the output depends, and the input.
pub(crate) fn fingerprint(
    transform: &Transform,
    options: &Options,
    input: &InputFile,
) -> Result<String, ErrorKind> {
    let job = match transform.job() {
        Job::Logs(events) => {
            let events = events.decoders().iter().map(|event| {
                // The text of a signature has the types only.
                let (codec, signature) = (event.codec(), event.codec().signature());
                let indexed = signature.inputs.iter().map(|input| input.indexed);
                let indexed: Vec<bool> = indexed.collect();
                let anonymous = codec.is_anonymous();
                format!(
                    "{signature} indexed {indexed:?} anonymous {anonymous} {:?}",
                    event.mode()
                )
            });
            format!("logs {:?}", events.collect::<Vec<_>>())
        }
        Job::Calls(functions) => {
            let functions = functions.decoders().iter().map(|function| {
                let signature = function.codec().signature();
                let outputs = signature.outputs.iter().map(|output| output.ty.to_string());
                let outputs = outputs.collect::<Vec<_>>().join(",");
                format!("{signature} returns ({outputs}) {:?}", function.mode())
            });
            format!("calls {:?}", functions.collect::<Vec<_>>())
        }
        Job::Senders(options) => format!("{options:?}"),
    };
    let outputs = transform.outputs().iter();
    let fields = outputs.flat_map(|output| output.schema.fields());
    let columns: Vec<String> = fields
        .map(|field| format!("{}: {}", field.name(), field.data_type()))
        .collect();
    let file = File::open(&input.path)?;
    let size = file.metadata()?.len();
    let digest = hex::encode_prefixed(digest(&file, size)?);
    Ok(format!(
        "lydite {}\n{job}\ncolumns {}\n{:?} {:?}\n{:?} {:?} memory {:?}\ninput {} {size} bytes {digest}",
        env!("CARGO_PKG_VERSION"),
        columns.join(", "),
        transform.options().on_error,
        transform.options().map.0,
        options.format,
        options.compression,
        options.memory,
        input.name.display(),
    ))
}

/// Hashes the end of a Parquet file, and all of an Arrow file, of which no part depends on all values.
fn digest(mut file: &File, size: u64) -> io::Result<[u8; 32]> {
    let mut magic = Vec::new();
    file.take(4).read_to_end(&mut magic)?;
    let skipped = if magic == b"PAR1" {
        size.saturating_sub(TAIL)
    } else {
        0
    };
    file.seek(SeekFrom::Start(skipped))?;
    let mut digest = Sha256::new();
    io::copy(&mut BufReader::with_capacity(1 << 18, file), &mut digest)?;
    Ok(digest.finalize())
}

/// Reads the fingerprint of an output; `None` if it has none.
pub(crate) fn read(path: &Path) -> Result<Option<String>, ErrorKind> {
    guard(|| {
        let file = File::open(path)?;
        let mut magic = Vec::new();
        (&file).take(6).read_to_end(&mut magic)?;
        if magic == b"ARROW1" {
            let reader = FileReader::try_new(file, None)?;
            return Ok(reader.custom_metadata().get(KEY).cloned());
        }
        let reader = SerializedFileReader::new(file)?;
        let pairs = reader.metadata().file_metadata().key_value_metadata();
        let mut pairs = pairs.into_iter().flatten();
        let pair = pairs.find(|pair| pair.key == KEY);
        Ok(pair.and_then(|pair| pair.value.clone()))
    })
}

/// Removes the temporary files of interrupted runs.
pub(crate) fn remove_temporary(directory: &Path) -> Result<(), ErrorKind> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(locked) = name.and_then(locked_file) else {
            continue;
        };
        let unused = match File::open(directory.join(locked)) {
            Ok(file) => file.try_lock().is_ok(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) => return Err(error.into()),
        };
        if unused {
            match fs::remove_file(&path) {
                // Another run may have renamed or removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => result?,
            }
        }
    }
    Ok(())
}
