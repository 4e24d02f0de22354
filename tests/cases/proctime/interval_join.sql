-- expect: make_interval_join
SET 'execution.runtime-mode' = 'streaming';
CREATE TABLE click (item STRING, user_id BIGINT, price DECIMAL(10, 2), proc AS PROCTIME())
WITH ('connector' = 'filesystem', 'path' = 'data/click', 'format' = 'json');
CREATE VIEW shown AS SELECT item AS shown_item, PROCTIME() AS seen FROM auction;
SELECT item, price, seen
FROM click JOIN shown ON item = shown_item AND proc BETWEEN seen - INTERVAL '1' MINUTE AND seen + INTERVAL '1' MINUTE;
