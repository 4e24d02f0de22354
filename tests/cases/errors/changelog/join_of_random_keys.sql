-- A row that goes would have another number.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
CREATE TABLE seats (id BIGINT, place STRING, op STRING)
WITH ('connector' = 'filesystem', 'path' = 'data/seats', 'format' = 'json', 'changelog.op' = 'op');
SELECT p.name, r FROM (SELECT id, RAND() AS r FROM seats) AS s JOIN person AS p ON s.id = p.id;
