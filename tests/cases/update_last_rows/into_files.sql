-- expect-not: update_last_rows
-- A table that only adds rows gets each last row when it is final.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
CREATE TABLE latest (item STRING, price DECIMAL(10, 2)) WITH ('connector' = 'filesystem', 'path' = 'out/latest', 'format' = 'json');
INSERT INTO latest SELECT item, price FROM bid QUALIFY ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime DESC) = 1;
