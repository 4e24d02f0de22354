-- A source of Spark's own has its own columns: they are cast to those of the table. It has no end, so this is a stream.
CREATE TABLE ticks (
    `timestamp` TIMESTAMP_LTZ(3),
    `value`     BIGINT,
    ts          AS CAST(`timestamp` AS TIMESTAMP(3)),
    WATERMARK FOR ts AS ts
) WITH ('connector' = 'rate', 'rowsPerSecond' = '100');
SELECT window_end, MAX(`value`) AS latest
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '2' SECOND))
GROUP BY window_start, window_end;
