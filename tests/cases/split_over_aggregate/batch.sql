-- expect-not: split_over_aggregate
SELECT item, price, SUM(price) OVER (PARTITION BY item ORDER BY bidtime) AS so_far FROM bid;
