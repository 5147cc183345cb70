"""Polars, whose integers have 128 bits: exact sums by limbs of 64 bits."""

from functools import reduce

import arena_kit as kit
import bulk_items as bulk
import polars as pl

TOPIC = bytes.fromhex("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef")
LIMBS = range(4)


def limb(i):
    limb = pl.col("data").bin.slice(24 - 8 * i, 8).bin.reinterpret(dtype=pl.UInt64, endianness="big")
    return limb.cast(pl.Int128).alias(f"v{i}")


def transfers(file):
    selected = (pl.col("topic0") == TOPIC) & pl.col("topic2").is_not_null() & pl.col("topic3").is_null()
    return pl.scan_parquet(file).filter(selected)


def number(frame, name):
    """Carries what exceeds 64 bits of each limb to the next; of a negative number, the highest limb is negative."""
    for i in range(3):
        total = pl.col(f"{name}{i}")
        carry = (pl.col(f"{name}{i + 1}") + total // (1 << 64)).alias(f"{name}{i + 1}")
        frame = frame.with_columns(total % (1 << 64), carry)
    return frame


def volumes(file):
    sums = transfers(file).select("address", *map(limb, LIMBS)).group_by("address").agg(pl.all().sum())
    order = [f"v{i}" for i in reversed(LIMBS)]
    top = number(sums, "v").sort(*order, "address", descending=[True] * 4 + [False]).head(20).collect()
    return [(token, str(sum(limb << 64 * i for i, limb in enumerate(limbs)))) for token, *limbs in top.iter_rows()]


def holders(file):
    logs = transfers(file)
    received = logs.select("address", pl.col("topic2").bin.slice(12, 20).alias("holder"), *map(limb, LIMBS))
    negative = (limb(i) * -1 for i in LIMBS)
    sent = logs.select("address", pl.col("topic1").bin.slice(12, 20).alias("holder"), *negative)
    balances = pl.concat([received, sent]).group_by("address", "holder").agg(pl.all().sum())
    is_positive = (pl.col("v3") >= 0) & reduce(lambda a, b: a | b, [pl.col(f"v{i}") != 0 for i in LIMBS])
    top = (
        number(balances, "v")
        .filter(is_positive)
        .group_by("address")
        .agg(holders=pl.len())
        .sort("holders", "address", descending=[True, False])
        .head(20)
        .collect()
    )
    return [(token, str(count)) for token, count in top.iter_rows()]


def tokens(file):
    return volumes(file) + holders(file)


def parse(item):
    return bulk.write_input(bulk.logs(item))


if __name__ == "__main__":
    kit.run("polars", f"polars {pl.__version__}", {"bulk_tokens_file": bulk.in_rows(parse, tokens)})
