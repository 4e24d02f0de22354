SET 'execution.runtime-mode' = 'streaming';
SELECT HOP_START(bidtime, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE) AS starts, item, SUM(price) AS total
FROM bid
GROUP BY HOP(bidtime, INTERVAL '1' MINUTE, INTERVAL '10' MINUTE), item;
