CREATE TABLE late_bids (
    item STRING, price DOUBLE, bidtime TIMESTAMP(3), window_start TIMESTAMP(3), window_end TIMESTAMP(3)
) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
CREATE TABLE counts (window_end TIMESTAMP(3), bids BIGINT)
WITH ('connector' = 'filesystem', 'path' = 'out/counts', 'format' = 'csv', 'csv.header' = 'true');
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'late_bids';
INSERT INTO counts
SELECT window_end, COUNT(*) AS bids
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '10' MINUTE))
WHERE quantity > 0
GROUP BY window_start, window_end
HAVING COUNT(*) > 1;
