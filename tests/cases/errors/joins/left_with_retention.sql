-- A row without a partner would go when one comes.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.item = b.item;
