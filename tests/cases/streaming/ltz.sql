SET 'execution.runtime-mode' = 'streaming';
SET 'table.local-time-zone' = 'Europe/Berlin';
-- Windows lie on the wall clock; watermarks, and the windows' own times, are instants.
CREATE TABLE visit (shop STRING, at TIMESTAMP_LTZ(3), WATERMARK FOR at AS at - INTERVAL '5' SECOND)
WITH ('connector' = 'filesystem', 'path' = 'visits', 'format' = 'json');
SELECT window_start, window_end, window_time, shop, COUNT(*) AS visits, FIRST_VALUE(at) AS first_at
FROM TABLE(TUMBLE(TABLE visit, DESCRIPTOR(at), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, window_time, shop;
