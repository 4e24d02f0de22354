-- Early results: the mean delay of each airport in the hour that is under way, a minute after a departure.
-- As a stream it gives changes: column op says whether a row comes (+I, +U) or is replaced (-U).
-- Rows change by the clock, so delays_so_far.tvfsql.yaml tests it with simulated time.

CREATE TABLE flights (
    sched_dep TIMESTAMP(3) NOT NULL,  -- scheduled departure, New York time
    dep_time  TIMESTAMP(3),           -- actual departure; NULL if cancelled
    carrier   STRING NOT NULL,
    flight    INT NOT NULL,
    origin    STRING NOT NULL,        -- EWR, JFK or LGA
    dest      STRING NOT NULL,
    dep_delay INT,                    -- minutes; negative if early, NULL if cancelled
    distance  INT NOT NULL,           -- miles
    WATERMARK FOR sched_dep AS sched_dep - INTERVAL '5' MINUTE
) WITH (
    'connector' = 'filesystem',
    'path' = 'data/flights.parquet',  -- beside this script
    'format' = 'parquet'
);

SET 'table.exec.emit.early-fire.enabled' = 'true';
SET 'table.exec.emit.early-fire.delay' = '1 min';

SELECT
    window_start,
    origin,
    COUNT(dep_time) AS departures,
    AVG(CAST(dep_delay AS DOUBLE)) AS mean_delay
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, origin;
