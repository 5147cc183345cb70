"""The ten tokens with the most holders: `spark-submit top_tokens_spark.py LOGS.parquet`, on any Spark cluster."""

import sys

import lydite
import lydite.spark
from pyspark.sql import SparkSession

TRANSFER = "Transfer(address indexed from, address indexed to, uint256 value)"

spark = SparkSession.builder.getOrCreate()
logs = spark.read.parquet(*sys.argv[1:])
transfers = lydite.spark.decode_logs(logs, TRANSFER, keep=["address"], uint256="decimal", on_error="drop")
transfers.createOrReplaceTempView("transfers")
top = spark.sql("""
    WITH moves AS (
        SELECT address, `to` AS holder, value FROM transfers
        UNION ALL
        SELECT address, `from`, -value FROM transfers
    ), balances AS (
        SELECT address, holder FROM moves WHERE value IS NOT NULL GROUP BY ALL HAVING sum(value) > 0
    )
    SELECT address, count(*) AS holders FROM balances GROUP BY ALL ORDER BY holders DESC, address LIMIT 10
""")
for token, holders in top.collect():
    print(f"{lydite.to_checksum_address(bytes(token))} {holders}")
