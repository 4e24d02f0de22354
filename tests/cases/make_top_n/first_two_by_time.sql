-- expect-not: make_top_n
-- expect: count_instead_of_rank
-- A later row changes no rank.
SET 'execution.runtime-mode' = 'streaming';
SELECT item, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY item ORDER BY bidtime) AS place FROM bid) WHERE place <= 2;
