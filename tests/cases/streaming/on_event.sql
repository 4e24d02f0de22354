CREATE TABLE click (
    page STRING,
    at   TIMESTAMP(3),
    WATERMARK FOR at AS at
) WITH (
    'connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json',
    'scan.watermark.emit.strategy' = 'on-event', 'scan.watermark.idle-timeout' = '10 s'
);
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.source.rowtime-null-handling' = 'DROP';
SELECT window_end, page, COUNT(*) AS clicks
FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(at), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, page;
