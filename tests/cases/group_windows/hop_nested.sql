-- expect: split_local_global
-- same-plan-as: group_windows/hop_nested_modern
SELECT TUMBLE_START(rowtime, INTERVAL '1' HOUR) AS starts, MAX(total) AS most
FROM (
    SELECT HOP_ROWTIME(b.bidtime, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE) AS rowtime, SUM(b.price) AS total
    FROM bid AS b
    GROUP BY b.item, HOP(b.bidtime, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE)
)
GROUP BY TUMBLE(rowtime, INTERVAL '1' HOUR);
