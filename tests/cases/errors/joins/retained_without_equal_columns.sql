-- All rows would be in one task.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON b.price > a.reserve;
