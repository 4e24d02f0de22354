-- HOP: windows of 24 hours, a new one every 15 minutes, so each flight is in 96 of them.
-- tvfsql counts a flight once, in its slice of 15 minutes, and computes the windows from slices.
-- Shows the twelve windows in which an airport cancelled most.

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

CREATE VIEW days AS
SELECT
    window_start,
    window_end,
    origin,
    COUNT(*) AS planned,
    COUNT(*) - COUNT(dep_time) AS cancelled
FROM TABLE(
    HOP(
        DATA => TABLE flights,
        TIMECOL => DESCRIPTOR(sched_dep),
        SLIDE => INTERVAL '15' MINUTE,
        SIZE => INTERVAL '24' HOUR
    )
)
GROUP BY window_start, window_end, origin;

SELECT window_start, window_end, origin, planned, cancelled
FROM days
ORDER BY cancelled DESC, window_end, origin
LIMIT 12;
