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
    moves = [("to", pl.col("value")), ("from", -pl.col("value"))]
    top = (
        pl.concat(transfers.select("address", holder=holder, value=value) for holder, value in moves)
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
