"""DuckDB, whose integers have 128 bits: exact sums by limbs of 64 bits."""

import arena_kit as kit
import bulk_items as bulk
import duckdb

LIMBS = range(4)
LIMB = ", ".join(f"data[{25 - 8 * i}:{32 - 8 * i}]::BIT::UBIGINT AS v{i}" for i in LIMBS)
TRANSFERS = f"""
    SELECT address, topic1[13:32] AS sender, topic2[13:32] AS recipient, {LIMB} FROM 'FILE'
    WHERE topic0 = unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')
        AND topic2 IS NOT NULL AND topic3 IS NULL
"""


def sums(name):
    return ", ".join(f"sum({name}{i})::HUGEINT AS {name}{i}" for i in LIMBS)


def number(name):
    """The limbs of a sum, the highest first; each carries what exceeds 64 bits to the next."""
    limbs, carry = [], "0"
    for i in LIMBS:
        total = f"({name}{i} + {carry})"
        limbs.insert(0, f"{total} & 18446744073709551615::HUGEINT")
        carry = f"({total} >> 64)"
    return f"[{', '.join(limbs)}]"


VALUES = ", ".join(
    f"CASE WHEN incoming THEN v{i} ELSE 0::UBIGINT END AS r{i}, CASE WHEN incoming THEN 0::UBIGINT ELSE v{i} END AS s{i}"
    for i in LIMBS
)
VOLUMES = f"""
    WITH transfers AS ({TRANSFERS}), sums AS (SELECT address, {sums("v")} FROM transfers GROUP BY address)
    SELECT address, {number("v")} AS volume FROM sums ORDER BY volume DESC, address LIMIT 20
"""
HOLDERS = f"""
    WITH transfers AS ({TRANSFERS}),
    moves AS (
        SELECT address, CASE WHEN incoming THEN recipient ELSE sender END AS holder, {VALUES}
        FROM transfers CROSS JOIN (VALUES (true), (false)) AS directions(incoming)
    ),
    balances AS (SELECT address, {sums("r")}, {sums("s")} FROM moves GROUP BY address, holder)
    SELECT address, count(*) AS holders FROM balances WHERE {number("r")} > {number("s")}
    GROUP BY address ORDER BY holders DESC, address LIMIT 20
"""


def parse(item):
    file = bulk.write_input(bulk.logs(item))
    connection = duckdb.connect(config={"threads": 1})
    return connection, [query.replace("FILE", file) for query in (VOLUMES, HOLDERS)]


def tokens(parsed):
    connection, (volumes, holders) = parsed
    rows = [
        (token, str(sum(limb << 64 * i for i, limb in enumerate(reversed(limbs)))))
        for token, limbs in connection.execute(volumes).fetchall()
    ]
    return rows + [(token, str(count)) for token, count in connection.execute(holders).fetchall()]


if __name__ == "__main__":
    kit.run("duckdb", f"duckdb {duckdb.__version__}", {"bulk_tokens_file": bulk.in_rows(parse, tokens)})
