-- The ten tokens with the most holders, from raw logs: lydite sql -t logs=LOGS.parquet "$(cat top_tokens_lydite.sql)"
WITH transfers AS (
    SELECT address, evm_decode_log(topic0, topic1, topic2, topic3, data,
        'event Transfer(address indexed from, address indexed to, uint256 value)') AS log
    FROM logs
), moves AS (
    -- Each transfer twice, from one read of the file: UNION ALL would read it twice.
    SELECT address, CASE WHEN incoming THEN log['to'] ELSE log['from'] END AS holder,
        CASE WHEN incoming THEN log['value'] ELSE uint256(0) END AS received,
        CASE WHEN incoming THEN uint256(0) ELSE log['value'] END AS sent
    FROM transfers CROSS JOIN (VALUES (true), (false)) AS directions(incoming)
    WHERE log IS NOT NULL
), balances AS (
    SELECT address, holder FROM moves GROUP BY address, holder HAVING uint256_sum(received) > uint256_sum(sent)
)
SELECT evm_hex_encode(address) AS token, count(*) AS holders
FROM balances GROUP BY token ORDER BY holders DESC, token LIMIT 10
