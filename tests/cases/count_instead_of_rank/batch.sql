-- expect-not: count_instead_of_rank
SELECT item, RANK() OVER (PARTITION BY item ORDER BY bidtime) AS n FROM bid;
