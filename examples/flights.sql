-- Only the table of the other scripts: every departure from New York City in 2013.
-- To try queries of your own:
--   tvfsql run -i examples/flights.sql -e "SELECT carrier, COUNT(*) FROM flights GROUP BY carrier"

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
