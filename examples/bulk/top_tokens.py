"""The ten tokens with the most holders: `python top_tokens.py LOGS.parquet…`, on Polars."""

import sys
import tempfile
from pathlib import Path

import lydite
import polars as pl

TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"

with tempfile.TemporaryDirectory() as directory:
    file = Path(directory, "transfers.parquet")
    lydite.decode_logs_file(sys.argv[1:], file, TRANSFER, keep=["address"], uint256="decimal", on_error="drop")
    transfers = pl.scan_parquet(file).drop_nulls()
    received = transfers.select("address", holder="to", value="value")
    sent = transfers.select("address", holder="from", value=-pl.col("value"))
    top = (
        pl.concat([received, sent])
        .group_by("address", "holder")
        .agg(pl.col("value").sum())
        .filter(pl.col("value") > 0)
        .group_by("address")
        .agg(holders=pl.len())
        .sort("holders", "address", descending=[True, False])
        .head(10)
        .collect()
    )
for token, holders in top.iter_rows():
    print(f"{lydite.to_checksum_address(token)} {holders}")
