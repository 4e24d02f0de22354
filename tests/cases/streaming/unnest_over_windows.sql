SET 'execution.runtime-mode' = 'streaming';
CREATE VIEW lists AS
SELECT window_time AS rowtime, ARRAY_AGG(item) AS items
FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(bidtime), INTERVAL '2' MINUTE))
GROUP BY window_start, window_end, window_time;
CREATE VIEW each_item AS SELECT rowtime, x FROM lists CROSS JOIN UNNEST(items) AS t (x);
SELECT window_start, window_end, x, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE each_item, DESCRIPTOR(rowtime), INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, x;
