"""ClickHouse in the process, which has integers of 256 bits."""

from importlib.metadata import version

import arena_kit as kit
import bulk_items as bulk
import chdb

TRANSFERS = """
    SELECT address, substring(topic1, 13) AS sender, substring(topic2, 13) AS recipient,
        reinterpretAsUInt256(reverse(data)) AS value
    FROM file('FILE', Parquet)
    WHERE topic0 = unhex('ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef')
        AND topic2 IS NOT NULL AND topic3 IS NULL
"""
VOLUMES = f"""
    SELECT hex(address), toString(sum(value) AS volume) FROM ({TRANSFERS})
    GROUP BY address ORDER BY volume DESC, address LIMIT 20 SETTINGS max_threads = 1
"""
HOLDERS = f"""
    WITH transfers AS ({TRANSFERS}), moves AS (
        SELECT address, if(incoming, recipient, sender) AS holder, if(incoming, value, toUInt256(0)) AS received,
            if(incoming, toUInt256(0), value) AS sent
        FROM transfers ARRAY JOIN [true, false] AS incoming
    )
    SELECT hex(address), toString(count() AS holders)
    FROM (SELECT address, holder FROM moves GROUP BY address, holder HAVING sum(received) > sum(sent))
    GROUP BY address ORDER BY holders DESC, address LIMIT 20 SETTINGS max_threads = 1
"""


def parse(item):
    file = bulk.write_input(bulk.logs(item))
    return chdb.connect(":memory:"), [query.replace("FILE", file) for query in (VOLUMES, HOLDERS)]


def tokens(parsed):
    connection, queries = parsed
    lines = [line for query in queries for line in str(connection.query(query, "TSV")).splitlines()]
    return [(bytes.fromhex(token), number) for token, number in (line.split("\t") for line in lines)]


if __name__ == "__main__":
    kit.run("chdb", f"chdb {version('chdb')}", {"bulk_tokens_file": bulk.in_rows(parse, tokens)})
