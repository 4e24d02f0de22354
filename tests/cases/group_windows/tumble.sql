-- same-plan-as: group_windows/tumble_modern
SELECT TUMBLE_START(bidtime, INTERVAL '10' MINUTE) AS starts, TUMBLE_END(bidtime, INTERVAL '10' MINUTE) AS ends,
       TUMBLE_ROWTIME(bidtime, INTERVAL '10' MINUTE) AS rowtime, item, COUNT(*) AS n
FROM bid
WHERE price > 3
GROUP BY TUMBLE(bidtime, INTERVAL '10' MINUTE), item
HAVING COUNT(*) > 1
ORDER BY TUMBLE_END(bidtime, INTERVAL '10' MINUTE), item;
