-- Types and functions of Flink in Spark's words.
SELECT
    CAST(bidtime AS DATE) AS day,
    CAST(price AS BIGINT) AS whole,
    CAST(item AS VARCHAR(10)) AS short,
    quantity / 2 AS half,
    quantity / rating AS per_rating,
    TO_TIMESTAMP('2020-04-15 08:00:00') AS started,
    TO_TIMESTAMP_LTZ(1586937600000, 3) AS instant,
    EXTRACT(HOUR FROM bidtime) AS hour_of_day,
    bidtime + INTERVAL '1' HOUR AS later,
    SPLIT_INDEX(item, ',', 0) AS first_part,
    COALESCE(item, 'none') AS item
FROM bid;
