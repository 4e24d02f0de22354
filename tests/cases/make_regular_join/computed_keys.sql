-- Rows are distributed by what ON equates: an expression of each side, and an INT beside a BIGINT.
-- expect: make_regular_join
SET 'execution.runtime-mode' = 'streaming';
SET 'table.exec.state.ttl' = '1 d';
SELECT a.id, b.price FROM auction AS a LEFT JOIN bid AS b ON UPPER(a.item) = UPPER(b.item) AND b.quantity = a.seller;
