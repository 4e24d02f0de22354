-- expect: make_top_n
-- expect-not: make_deduplicate count_instead_of_rank
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price, place FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime DESC) AS place FROM bid)
WHERE place <= 2;
