-- Functions in Python: how late flights left in each hour, weighted by the distance of the flight.
-- weighted.py, beside this script, has the two functions. With --mode streaming the accumulators are in the state.

CREATE FUNCTION weightedAvg AS 'weighted.WeightedAvg' LANGUAGE PYTHON;
CREATE FUNCTION inHours AS 'weighted.in_hours' LANGUAGE PYTHON;

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
    window_end,
    origin,
    COUNT(dep_time) AS departures,
    inHours(weightedAvg(dep_delay, distance)) AS delay
FROM TABLE(HOP(TABLE flights, DESCRIPTOR(sched_dep), INTERVAL '1' HOUR, INTERVAL '3' HOUR))
GROUP BY window_start, window_end, origin
HAVING weightedAvg(dep_delay, distance) >= 180;
