-- TUMBLE: the year in consecutive hours.
-- Departures, cancellations and mean delay of each carrier in each hour; shows the twenty worst hours.

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
    window_start,
    carrier,
    COUNT(dep_time) AS departures,
    COUNT(*) - COUNT(dep_time) AS cancelled,
    ROUND(AVG(CAST(dep_delay AS DOUBLE)), 1) AS mean_delay  -- AVG of an INT would be an INT
FROM TABLE(TUMBLE(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, carrier
HAVING COUNT(dep_time) >= 10
ORDER BY mean_delay DESC, window_start, carrier
LIMIT 20;
