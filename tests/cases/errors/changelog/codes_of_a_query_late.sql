SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE late (item STRING, bidtime TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'path' = 'late', 'format' = 'json');
SET 'tvfsql.late-output' = 'late';
SELECT window_end, COUNT(*) FROM TABLE(TUMBLE((SELECT * FROM FROM_CHANGELOG((SELECT item, bidtime, 'INSERT' AS op FROM bid))),
    DESCRIPTOR(bidtime), INTERVAL '1' HOUR)) GROUP BY window_start, window_end;
