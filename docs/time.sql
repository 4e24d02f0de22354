-- The tables of the examples in time.md: tvfsql run -i docs/time.sql --mode streaming -e "SELECT ..."

CREATE TABLE visit (
    ts   TIMESTAMP(3),
    page STRING,
    WATERMARK FOR ts AS ts - INTERVAL '3' MINUTE
) WITH (
    'connector' = 'filesystem',
    'path' = 'visit.csv',
    'format' = 'csv',
    'scan.watermark.emit.strategy' = 'on-event'
);

CREATE TABLE click (
    ts   TIMESTAMP(3),
    name STRING,
    WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (
    'connector' = 'filesystem',
    'path' = 'click.csv',
    'format' = 'csv',
    'scan.watermark.emit.strategy' = 'on-event'
);

-- an instant every hour, from 30 March 2024, 00:00 in Berlin
CREATE TABLE clock (
    n  BIGINT,
    ts AS TO_TIMESTAMP_LTZ(1711753200000 + n * 3600000, 3),
    WATERMARK FOR ts AS ts
) WITH (
    'connector' = 'datagen',
    'number-of-rows' = '71',
    'fields.n.kind' = 'sequence',
    'fields.n.start' = '0',
    'fields.n.end' = '70'
);
