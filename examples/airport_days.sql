-- SESSION: runs of departures from an airport without a pause of three hours: its days.
-- How long each lasted, and how many flights left.

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

SELECT
    origin,
    window_start,
    TIMESTAMPDIFF(MINUTE, window_start, window_end) - 180 AS minutes,
    COUNT(dep_time) AS departures
FROM TABLE(SESSION(TABLE flights PARTITION BY origin, DESCRIPTOR(sched_dep), INTERVAL '3' HOUR))
GROUP BY window_start, window_end, origin;
