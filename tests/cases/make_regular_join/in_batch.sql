-- Spark joins all rows.
-- expect-not: make_regular_join
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON a.item = b.item;
