//! The catalogue of operations, `arena/ops/*.toml`: one file per family, one table per kernel, one line per row.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::change::Change;
use crate::kernel::Kernel;

/// Whether the timed call allocates its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// The result is newly allocated (String, Vec, …), as the library's users get it.
    Fresh,
    /// The result is a plain value or is written to the caller's buffer.
    Reuse,
}

/// Source of a row's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// Exactly the published benchmark's input, as one item.
    Report,
    /// Distinct items drawn with the kernel's seed.
    Varied,
    /// Transactions of real blocks, `vectors/tx`; in the family `block` whole blocks, `vectors/blocks`.
    Blocks,
    /// The canonical encodings of `vectors/syrup`.
    Vectors,
    /// The input of a benchmark fixture in ethereum/execution-specs, as one item.
    Fixture,
}

/// One benchmark row.
#[derive(Clone, Debug)]
pub struct Op {
    /// Its id.
    pub id: String,
    /// Its family, which is the name of its file.
    pub family: String,
    /// The row's id in older records, if it was renamed.
    pub was: String,
    /// The function computed; rows of one kernel differ in their inputs and in the memory of the result.
    pub kernel: Kernel,
    /// The operation requested from contenders, `prepare <call>`. Rows of one operation differ only in their items.
    pub call: String,
    /// A readable description.
    pub title: String,
    /// The unit of one operation (`hash`, `signature`, …).
    pub unit: String,
    /// Its specification.
    pub spec: String,
    /// Fresh or reused memory.
    pub memory: Memory,
    /// Source of its items.
    pub input: Input,
    /// The published input that it uses, if there are several.
    pub case: String,
    /// Another row whose inputs this row uses or resembles.
    pub like: String,
    /// The name of the benchmark fixture in ethereum/execution-specs with the same work, if there is one.
    pub fixture: String,
    /// Whether it only runs if a glob selects it.
    pub on_request: bool,
    /// Number of precompile calls in a program.
    pub calls: u64,
    /// Maximum number of items of a probe.
    pub probes: usize,
    /// Seed of drawn items.
    pub seed: u64,
    /// Number of items.
    pub items: usize,
    /// Size of an item, if the kernel does not determine it: bytes, or the number of transactions or pairs.
    pub size: usize,
    /// Operations per call.
    pub ops_per_call: usize,
    /// Whether its rate is also reported in bytes per second.
    pub throughput: bool,
    /// Whether it is a row of the published reports, which run by default.
    pub report: bool,
    /// Whether it is so slow that quick runs skip it, and full runs use only the variants of quick runs in a single
    /// launch.
    pub full: bool,
    /// Whether every batch is whole passes over the items, because the times of the items differ by chance.
    pub whole_turns: bool,
    /// Number of threads that a contender may use.
    pub threads: u32,
    /// Whether a call waits for another thread by design, so that it uses less CPU time than time, and its threads wait for a
    /// processor when they are woken.
    pub waits: bool,
    /// Whether contenders build their inputs (keys, trees of values, objects of another language) outside the clock,
    /// however long that takes.
    pub builds_inputs: bool,
    /// Whether the checksum of a timed batch depends on part of the work only: it adds a decoded value's head, or the
    /// result of a program's last call.
    pub partial_checksum: bool,
    /// How a contender changes the items inside the clock.
    pub change: Change,
    /// `neg:<decoder>`, if there are malformed inputs.
    pub negative: Option<String>,
    /// Numbers published elsewhere: name and nanoseconds.
    pub published: BTreeMap<String, f64>,
    /// The content of an item, for the documentation.
    pub item_layout: String,
    /// The content of its output, likewise.
    pub output_layout: String,
}

impl Op {
    /// Number of newly allocated results of a call in a `fresh` row.
    pub fn results_per_call(&self) -> usize {
        // In these rows, elements count epochs of one key, or rows of one file or of a few arrays.
        match self.kernel {
            Kernel::Xmss(_) | Kernel::Bulk(_) => 1,
            _ => self.ops_per_call,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    family: String,
    /// Remarks on all its items, for the documentation.
    #[serde(default)]
    notes: String,
    /// The layout of the items and outputs of kernels that state none.
    #[serde(default)]
    item: String,
    #[serde(default)]
    output: String,
    #[serde(default)]
    on_request: bool,
    kernel: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: Kernel,
    title: String,
    unit: String,
    spec: String,
    #[serde(default)]
    item: Option<String>,
    #[serde(default)]
    output: Option<String>,
    seed: u64,
    #[serde(default)]
    negative: Option<String>,
    #[serde(default)]
    call: Option<String>,
    #[serde(default = "probes")]
    probes: usize,
    #[serde(default)]
    whole_turns: bool,
    #[serde(default)]
    builds_inputs: bool,
    #[serde(default)]
    partial_checksum: bool,
    #[serde(default)]
    change: Change,
    memory: Memory,
    #[serde(default = "one")]
    elements: usize,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    #[serde(default)]
    was: String,
    input: Input,
    #[serde(default)]
    case: String,
    #[serde(default)]
    call: Option<String>,
    #[serde(default)]
    like: String,
    #[serde(default)]
    fixture: String,
    #[serde(default)]
    calls: u64,
    #[serde(default)]
    items: Option<usize>,
    #[serde(default)]
    size: usize,
    #[serde(default)]
    elements: Option<usize>,
    #[serde(default)]
    memory: Option<Memory>,
    #[serde(default)]
    change: Option<Change>,
    #[serde(default = "one_thread")]
    threads: u32,
    #[serde(default)]
    waits: bool,
    #[serde(default)]
    throughput: bool,
    #[serde(default)]
    report: bool,
    #[serde(default)]
    full: bool,
    #[serde(default)]
    published: BTreeMap<String, f64>,
}

fn one() -> usize {
    1
}

fn one_thread() -> u32 {
    1
}

fn probes() -> usize {
    64
}

/// The embedded catalogue files.
const FILES: [&str; 11] = [
    include_str!("../ops/ethereum.toml"),
    include_str!("../ops/secp256k1.toml"),
    include_str!("../ops/syrup.toml"),
    include_str!("../ops/precompiles.toml"),
    include_str!("../ops/eest.toml"),
    include_str!("../ops/worst.toml"),
    include_str!("../ops/xmss.toml"),
    include_str!("../ops/block.toml"),
    include_str!("../ops/bindings.toml"),
    include_str!("../ops/bulk.toml"),
    include_str!("../ops/captp.toml"),
];

static CATALOGUE: LazyLock<Vec<Op>> =
    LazyLock::new(|| files().into_iter().flat_map(rows).collect());

fn files() -> Vec<File> {
    let parsed: Result<Vec<File>, _> = FILES.iter().map(|text| toml::from_str(text)).collect();
    // The embedded files are parsed by a test, so this is unreachable.
    parsed.unwrap_or_else(|error| unreachable!("the embedded catalogue: {error}"))
}

/// Remarks on the items of each family, in the order of the files.
pub fn notes() -> Vec<(String, String)> {
    let files = files().into_iter().filter(|file| !file.on_request);
    files.map(|file| (file.family, file.notes)).collect()
}

fn rows(file: File) -> Vec<Op> {
    let mut ops = Vec::new();
    for kernel in file.kernel {
        assert_eq!(kernel.name.family(), file.family, "{}", kernel.name);
        let item_layout = kernel.item.as_ref().unwrap_or(&file.item);
        let output_layout = kernel.output.as_ref().unwrap_or(&file.output);
        for row in kernel.rows {
            let elements = row.elements.unwrap_or(kernel.elements);
            assert!(kernel.probes > 1, "{}: expected two probes or more", row.id);
            ops.push(Op {
                family: file.family.clone(),
                was: row.was,
                kernel: kernel.name,
                call: row
                    .call
                    .or_else(|| kernel.call.clone())
                    .unwrap_or_else(|| kernel.name.to_string()),
                like: row.like,
                fixture: row.fixture,
                on_request: file.on_request,
                calls: row.calls,
                probes: kernel.probes,
                title: kernel.title.clone(),
                unit: kernel.unit.clone(),
                spec: kernel.spec.clone(),
                memory: row.memory.unwrap_or(kernel.memory),
                case: row.case,
                seed: kernel.seed,
                items: match (row.items, row.input) {
                    (Some(items), _) => items,
                    (None, Input::Report | Input::Fixture) => 1,
                    (None, Input::Blocks) => 130,
                    (None, Input::Vectors) => 82,
                    (None, Input::Varied) if elements == 64 => 16,
                    (None, Input::Varied) => 256,
                },
                size: row.size,
                ops_per_call: elements,
                input: row.input,
                throughput: row.throughput,
                report: row.report,
                full: row.full,
                whole_turns: kernel.whole_turns,
                threads: row.threads,
                waits: row.waits,
                builds_inputs: kernel.builds_inputs,
                partial_checksum: kernel.partial_checksum,
                change: row.change.unwrap_or(kernel.change),
                negative: kernel.negative.as_ref().map(|name| format!("neg:{name}")),
                published: row.published,
                item_layout: item_layout.clone(),
                output_layout: output_layout.clone(),
                id: row.id,
            });
        }
    }
    ops
}

/// All rows, in the order of the files.
pub fn catalogue() -> &'static [Op] {
    &CATALOGUE
}

/// The families, in order.
pub fn families() -> Vec<&'static str> {
    let mut names: Vec<&str> = catalogue().iter().map(|op| op.family.as_str()).collect();
    names.dedup();
    names
}

/// Whether `text` matches `pattern`, where `*` matches any characters and `?` a single one.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (p, t) = (pattern.as_bytes(), text.as_bytes());
    let (mut i, mut j, mut star) = (0, 0, None);
    while j < t.len() {
        if i < p.len() && p[i] == b'*' {
            star = Some((i, j));
            i += 1;
        } else if i < p.len() && (p[i] == b'?' || p[i] == t[j]) {
            i += 1;
            j += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            i = at + 1;
            j = from + 1;
        } else {
            return false;
        }
    }
    p[i..].iter().all(|&b| b == b'*')
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::kernel::Xmss;

    #[test]
    fn the_catalogue_is_whole() {
        let ops = catalogue();
        let mut ids: Vec<_> = ops.iter().map(|op| &op.id).collect();
        ids.sort();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count, "ids are unique");
        let reported = |family| {
            ops.iter()
                .filter(move |op| op.report && op.family == family)
        };
        // 26 rows of the first report, EIP-712 of the second, and the eight of the fourth, split in 13.
        assert_eq!(
            reported("ethereum").chain(reported("secp256k1")).count(),
            27
        );
        assert_eq!(reported("syrup").count(), 13);
        // The third report's 14 programs, and its direct calls by their distinct inputs.
        let programs = reported("precompiles").filter(|op| op.call == "bytecode_setup");
        assert_eq!(programs.count(), 14);
        assert_eq!(reported("precompiles").count(), 34);
        assert_eq!(reported("xmss").count(), 1);
        for op in ops {
            assert!(op.ops_per_call > 0 && op.items > 0, "{}", op.id);
            let (fixture, worst) = (op.id.starts_with("eest_"), op.id.starts_with("worst_"));
            assert_eq!(op.on_request, fixture || worst, "{}", op.id);
            assert!(!fixture || !op.fixture.is_empty(), "{}", op.id);
            assert_eq!(
                matches!(op.input, Input::Report | Input::Fixture),
                !["varied", "batch", "blocks", "mainnet", "vectors"]
                    .iter()
                    .any(|part| op.id.contains(part)),
                "{}",
                op.id
            );
            // A call can take milliseconds, so a batch is one pass over fewer distinct items.
            let few = op.id.starts_with("secp256k1") && op.id.contains("_batch_")
                || op.case == "1mb"
                || ["precompiles", "block", "captp"].contains(&op.family.as_str())
                || op.kernel == Kernel::Xmss(Xmss::Sign);
            if op.input == Input::Varied && !few {
                assert!(op.items * op.ops_per_call >= 256, "{}", op.id);
            }
        }
        assert_eq!(
            families(),
            [
                "ethereum",
                "secp256k1",
                "syrup",
                "precompiles",
                "xmss",
                "block",
                "bindings",
                "bulk",
                "captp"
            ]
        );
    }

    #[test]
    fn an_unknown_kernel_is_an_error_with_its_line() {
        let (head, _) = FILES[8].split_once("abi_decode_dynamic_heads").unwrap();
        let text = FILES[8].replacen("abi_decode_dynamic_heads", "abi_heads", 1);
        let error = toml::from_str::<File>(&text).map(|_| ()).unwrap_err();
        let error = error.to_string();
        let line = format!("at line {},", head.lines().count());
        assert!(error.contains("unknown kernel `abi_heads`"), "{error}");
        assert!(error.contains(&line), "{error}");
    }

    #[test]
    fn globs() {
        for (pattern, text, want) in [
            ("*", "", true),
            ("keccak*", "keccak256_32b", true),
            ("*_into", "abi_encode_static_into", true),
            ("*_into", "abi_encode_static_into_varied", false),
            ("u256_???", "u256_add", true),
            ("u256_???", "u256_mulDiv", false),
            ("*a*b*", "xxaxxbxx", true),
            ("a*b*c", "abbcb", false),
        ] {
            assert_eq!(glob(pattern, text), want, "{pattern} {text}");
        }
    }
}
