-- expect: make_temporal_sort
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price, bidtime FROM bid WHERE price > 5 ORDER BY bidtime, price DESC;
