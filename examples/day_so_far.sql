-- CUMULATE: windows that begin at midnight and grow by the hour, up to a whole day.
-- How the 8th of February went, when a blizzard closed the airports in the afternoon.

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

CREATE VIEW storm AS
SELECT sched_dep, dep_time, dest, dep_delay
FROM flights
WHERE sched_dep >= TIMESTAMP '2013-02-08 00:00:00' AND sched_dep < TIMESTAMP '2013-02-09 00:00:00';

SELECT
    window_start,
    window_end,
    COUNT(dep_time) AS departures,
    COUNT(*) - COUNT(dep_time) AS cancelled,
    COUNT(DISTINCT dest) FILTER (WHERE dep_time IS NOT NULL) AS reached,  -- airports
    MAX(dep_delay) AS longest_delay
FROM TABLE(CUMULATE(TABLE storm, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR, INTERVAL '1' DAY))
GROUP BY window_start, window_end
ORDER BY window_end;
