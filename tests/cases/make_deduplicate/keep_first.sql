-- expect: make_deduplicate
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price, bidtime
FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime) AS place FROM bid)
WHERE place = 1 AND price > 5;
