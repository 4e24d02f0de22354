-- expect: push_expand_below_window make_window_top_n
SELECT TUMBLE_END(bidtime, INTERVAL '10' MINUTE), item, SUM(price) AS total
FROM bid
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE), ROLLUP (item)
QUALIFY ROW_NUMBER() OVER (
    PARTITION BY TUMBLE_START(bidtime, INTERVAL '10' MINUTE), TUMBLE_END(bidtime, INTERVAL '10' MINUTE)
    ORDER BY SUM(price) DESC
) <= 3;
