-- Each auction once, with its first bid.
-- expect: make_regular_join
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '12 h';
SELECT id, item FROM auction AS a WHERE EXISTS (SELECT * FROM bid AS b WHERE b.item = a.item AND b.price > 10) AND reserve < 5;
