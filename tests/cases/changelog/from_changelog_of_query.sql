-- expect: retract_changes
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE captured (id INT, kind INT, item STRING, price INT, changed TIMESTAMP(3), WATERMARK FOR changed AS changed)
WITH ('connector' = 'filesystem', 'path' = 'captured', 'format' = 'json');
CREATE VIEW coded AS SELECT id, CASE kind WHEN 1 THEN 'INSERT' WHEN 2 THEN 'DELETE' END AS op, item, price, changed FROM captured WHERE kind > 0;
SELECT window_end, item, COUNT(*) AS n
FROM TABLE(TUMBLE((SELECT * FROM FROM_CHANGELOG(TABLE coded)), DESCRIPTOR(changed), INTERVAL '1' HOUR))
GROUP BY window_start, window_end, item;
SELECT item, SUM(n) AS n FROM FROM_CHANGELOG((
    SELECT * FROM TO_CHANGELOG((SELECT item, COUNT(*) AS n FROM captured GROUP BY item))))
GROUP BY item;
