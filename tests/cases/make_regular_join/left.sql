-- An auction without a bid is taken back when one comes; a condition on one side decides which rows have partners.
-- expect: make_regular_join
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.item = b.item AND b.price > 10;
