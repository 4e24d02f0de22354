-- expect: update_last_rows
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
SELECT item, user_id, price FROM click QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY proc DESC) = 1;
