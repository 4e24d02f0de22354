-- The times of rows say how long they are kept.
-- expect-not: make_regular_join
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON a.item = b.item AND b.bidtime BETWEEN a.opened AND a.opened + INTERVAL '1' HOUR;
