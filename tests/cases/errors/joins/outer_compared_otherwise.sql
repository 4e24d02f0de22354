-- In an outer join other conditions decide which rows have a partner.
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON a.item = b.item AND b.price > a.reserve;
