-- expect: retract_changes
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE captured (id INT, code STRING, item STRING, price INT, changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'filesystem', 'path' = 'captured', 'format' = 'json');
SELECT window_end, item, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(TUMBLE((SELECT * FROM FROM_CHANGELOG(TABLE captured, DESCRIPTOR(code),
    MAP['c, r', 'INSERT', 'b', 'UPDATE_BEFORE', 'u', 'UPDATE_AFTER', 'd', 'DELETE'])), DESCRIPTOR(changed), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
SELECT item, COUNT(*) AS n, MAX(price) AS most
FROM FROM_CHANGELOG(input => TABLE captured PARTITION BY id, op => DESCRIPTOR(code),
    op_mapping => MAP['c, r', 'INSERT', 'u', 'UPDATE_AFTER', 'd', 'DELETE'])
GROUP BY item;
