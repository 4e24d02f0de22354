SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, proc AS PROCTIME(), later AS PROCTIME() + INTERVAL '1' HOUR)
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(later), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;
