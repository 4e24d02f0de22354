CREATE TABLE late_bids (item STRING) WITH ('connector' = 'filesystem', 'path' = 'out/late', 'format' = 'json');
SET 'execution.runtime-mode' = 'streaming';
SET 'tvfsql.late-output' = 'late_bids';
SELECT item FROM bid;
