-- expect: make_window_deduplicate hold_rows_until_window_ends
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT item, price, proc, window_end
FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE))
QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end, item ORDER BY proc DESC) = 1;
