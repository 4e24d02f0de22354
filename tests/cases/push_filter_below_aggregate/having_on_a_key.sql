-- expect: push_filter_below_aggregate
SELECT item, COUNT(*) AS n FROM bid GROUP BY item HAVING item <> 'a';
