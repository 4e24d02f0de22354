-- A column that reads the clock is no obstacle if nothing reads it.
-- expect: retract_changes
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
CREATE TABLE seats (id BIGINT, place STRING, read_at AS PROCTIME(), op STRING)
WITH ('connector' = 'filesystem', 'path' = 'data/seats', 'format' = 'json', 'changelog.op' = 'op');
SELECT place, COUNT(*) AS n FROM seats GROUP BY place;
SELECT s.place, p.name FROM seats AS s JOIN person AS p ON s.id = p.id;
