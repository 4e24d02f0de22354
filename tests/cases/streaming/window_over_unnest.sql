-- expect: split_local_global
-- A row without elements carries a watermark, but is in no window.
SET 'execution.runtime-mode' = 'streaming';
CREATE VIEW letters AS
SELECT bidtime, price, letter FROM bid
CROSS JOIN UNNEST(SPLIT(NULLIF(item, 'A'), '')) AS t (letter) WHERE price > 1;
SELECT window_start, letter, COUNT(*) AS n, SUM(price) AS total
FROM TABLE(HOP(TABLE letters, DESCRIPTOR(bidtime), INTERVAL '2' MINUTE, INTERVAL '10' MINUTE))
GROUP BY window_start, window_end, letter;
