-- The ten tokens with the most holders, on DuckDB: `duckdb < top_tokens.sql`, next to a file made by
-- lydite decode-logs LOGS.parquet -o transfers.parquet --keep address --uint256 decimal --on-error drop \
--   --event 'Transfer(address indexed from, address indexed to, uint256 value)'
WITH moves AS (
    SELECT address, "to" AS holder, value FROM 'transfers.parquet'
    UNION ALL
    SELECT address, "from", -value FROM 'transfers.parquet'
), balances AS (
    SELECT address, holder FROM moves WHERE value IS NOT NULL GROUP BY ALL HAVING sum(value) > 0
)
SELECT lower(hex(address)) AS token, count(*) AS holders
FROM balances GROUP BY token ORDER BY holders DESC, token LIMIT 10;
