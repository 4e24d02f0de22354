-- expect-not: make_temporal_sort
SELECT item, price, bidtime FROM bid ORDER BY bidtime;
