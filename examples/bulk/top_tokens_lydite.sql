-- The ten tokens with the most holders, from raw logs: lydite sql -t logs=LOGS.parquet "$(cat top_tokens_lydite.sql)"
WITH transfers AS (
    SELECT address, evm_decode_log(topic0, topic1, topic2, topic3, data,
        'event Transfer(address indexed from, address indexed to, uint256 value)') AS log
    FROM logs
), moves AS (
    SELECT address, log['to'] AS holder, log['value'] AS received, uint256(0) AS sent FROM transfers WHERE log IS NOT NULL
    UNION ALL
    SELECT address, log['from'], uint256(0), log['value'] FROM transfers WHERE log IS NOT NULL
), balances AS (
    SELECT address, holder FROM moves GROUP BY address, holder HAVING uint256_sum(received) > uint256_sum(sent)
)
SELECT evm_hex_encode(address) AS token, count(*) AS holders
FROM balances GROUP BY token ORDER BY holders DESC, token LIMIT 10
