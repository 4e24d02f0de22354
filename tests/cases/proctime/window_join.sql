-- expect: make_window_join pair_rows_when_window_ends
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
CREATE VIEW shown AS SELECT item, PROCTIME() AS seen FROM auction;
SELECT c.item, c.price, c.window_start
FROM TABLE(TUMBLE(TABLE click, DESCRIPTOR(proc), INTERVAL '1' MINUTE)) c
LEFT JOIN TABLE(TUMBLE(TABLE shown, DESCRIPTOR(seen), INTERVAL '1' MINUTE)) s
ON c.item = s.item AND c.window_start = s.window_start AND c.window_end = s.window_end;
