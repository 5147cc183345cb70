# Shortcuts; `just` lists them. Each line also works without just (https://just.systems).

[private]
default:
    @just --list --unsorted

# Format, lint, unit tests and docs of the library: about five minutes.
quick:
    .ci/quick

# Everything that must pass before a merge: about an hour.
full:
    .ci/run

# Test one crate (hash, bytes, curve, evm, ocapn, xmss, …), optionally only the tests whose name contains FILTER.
test crate filter='':
    cargo test -p lydite-{{crate}} --lib {{filter}}

# Race rows against some contenders: just bench 'keccak256_32b*' alloy,asmcrypto
bench rows contenders='lydite':
    cargo run --release -- bench --ops '{{rows}}' --contenders {{contenders}}

# Profile our contender on one row with perf.
profile row:
    cargo run --release -- bench profile {{row}}

# Count the instructions of rows; deterministic, but not a measure of time.
instructions rows:
    cargo run --release -- bench instructions --ops '{{rows}}'

# Fuzz one target.
fuzz target seconds='60':
    FUZZ_SECONDS={{seconds}} .ci/fuzz {{target}}

# Regenerate docs/results, the table and charts of the README, and the schema of result.json.
generate:
    cargo run --release -- bench docs
    cargo run --release -- bench schema >arena/schema/result.schema.json
