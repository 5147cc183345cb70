//! The catalogue of operations, `arena/ops/*.toml`: one file a family, one table a kernel, one line a row.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::change::Change;

/// Does the timed call allocate its result?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// The result is a new String, Vec, …, as the library's users get it.
    Fresh,
    /// The result is a plain value or lies in the caller's buffer.
    Reuse,
}

/// Where a row's items come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Input {
    /// Exactly the published benchmark's input: one item.
    Report,
    /// Drawn with the kernel's seed: distinct items.
    Varied,
    /// The transactions of real blocks, `vectors/tx`.
    Blocks,
    /// The canonical encodings of `vectors/syrup`.
    Vectors,
}

/// One row of the arena.
#[derive(Clone, Debug)]
pub struct Op {
    /// Its id, as in `prepare <id>`.
    pub id: String,
    /// Its family: the file it stands in.
    pub family: String,
    /// The function computed: rows of one kernel differ by inputs only.
    pub kernel: String,
    /// What contenders are asked for, `prepare <call>`: the id, unless many rows share one operation.
    pub call: String,
    /// What it does, for people.
    pub title: String,
    /// What one operation makes (`hash`, `signature`, …).
    pub unit: String,
    /// Where it is specified.
    pub spec: String,
    /// Fresh or reused memory.
    pub memory: Memory,
    /// Where its items come from.
    pub input: Input,
    /// Which of several published inputs.
    pub case: String,
    /// Another row, whose inputs this row takes or resembles.
    pub like: String,
    /// Calls of a precompile in a program.
    pub calls: u64,
    /// Most items of a probe.
    pub probes: usize,
    /// Seed of drawn items.
    pub seed: u64,
    /// Number of items.
    pub items: usize,
    /// Bytes of an item, where the kernel leaves it open.
    pub size: usize,
    /// Operations in a call.
    pub ops_per_call: usize,
    /// Whether its rate is told in bytes a second too.
    pub throughput: bool,
    /// Whether it belongs to the published reports' rows, which run by default.
    pub report: bool,
    /// Whether it takes so long that quick runs leave it out, and full ones run the variants of quick ones, in one launch.
    pub full: bool,
    /// Whether a batch is whole turns over the items at any price: their times differ by chance.
    pub whole_turns: bool,
    /// How a contender changes the items inside the clock.
    pub change: Change,
    /// `neg:<decoder>`, where malformed inputs are known.
    pub negative: Option<String>,
    /// Figures published elsewhere: who, nanoseconds.
    pub published: BTreeMap<String, f64>,
}

impl Op {
    /// Threads that a contender may use.
    pub fn threads(&self) -> u32 {
        if self.id.contains("_2t") { 2 } else { 1 }
    }

    /// Results in new memory that a call of a `fresh` row makes.
    pub fn results_per_call(&self) -> usize {
        // There, elements count epochs of one key.
        if self.family == "xmss" {
            1
        } else {
            self.ops_per_call
        }
    }

    /// Whether contenders build what they work on outside the clock (keys, trees of values), at any price.
    pub fn builds_inputs(&self) -> bool {
        [
            "syrup_encode",
            "syrup_roundtrip_tree",
            "xmss_advance",
            "xmss_load",
            "xmss_save",
        ]
        .iter()
        .any(|name| self.kernel.starts_with(name))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    family: String,
    kernel: Vec<Kernel>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kernel {
    name: String,
    title: String,
    unit: String,
    spec: String,
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
    input: Input,
    #[serde(default)]
    case: String,
    #[serde(default)]
    call: Option<String>,
    #[serde(default)]
    like: String,
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

fn probes() -> usize {
    64
}

/// The catalogue's files.
const FILES: [&str; 7] = [
    include_str!("../ops/ethereum.toml"),
    include_str!("../ops/secp256k1.toml"),
    include_str!("../ops/syrup.toml"),
    include_str!("../ops/precompiles.toml"),
    include_str!("../ops/xmss.toml"),
    include_str!("../ops/alloy.toml"),
    include_str!("../ops/bindings.toml"),
];

static CATALOGUE: LazyLock<Vec<Op>> = LazyLock::new(|| {
    let parsed: Result<Vec<File>, _> = FILES.iter().map(|text| toml::from_str(text)).collect();
    match parsed {
        Ok(files) => files.into_iter().flat_map(rows).collect(),
        // The files are compiled in and parsed by a test: this cannot be reached by a user.
        Err(error) => unreachable!("the embedded catalogue: {error}"),
    }
});

fn rows(file: File) -> Vec<Op> {
    let mut ops = Vec::new();
    for kernel in file.kernel {
        for row in kernel.rows {
            let elements = row.elements.unwrap_or(kernel.elements);
            ops.push(Op {
                family: file.family.clone(),
                kernel: kernel.name.clone(),
                call: row
                    .call
                    .or_else(|| kernel.call.clone())
                    .unwrap_or_else(|| row.id.clone()),
                like: row.like,
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
                    (None, Input::Report) => 1,
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
                change: row.change.unwrap_or(kernel.change),
                negative: kernel.negative.as_ref().map(|name| format!("neg:{name}")),
                published: row.published,
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

/// Does `text` match `pattern`, where `*` stands for any characters and `?` for one?
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
    use super::*;

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
            assert_eq!(
                op.input == Input::Report,
                !["varied", "batch", "blocks", "vectors"]
                    .iter()
                    .any(|part| op.id.contains(part)),
                "{}",
                op.id
            );
            // A precompile can take milliseconds: a batch then is one turn over fewer distinct items.
            let few = op.id.starts_with("secp256k1") && op.id.contains("_batch_")
                || op.case == "1mb"
                || ["precompiles", "alloy"].contains(&op.family.as_str())
                || op.kernel == "xmss_sign";
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
                "alloy",
                "bindings"
            ]
        );
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
